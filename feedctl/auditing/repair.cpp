#include "feedctl/auditing/repair.h"

#include <utility>

namespace fanline::feedctl {

Status Repair::Run(const std::vector<UserId>& readers, RepairResult* result) {
  *result = {.wrong = readers.size()};
  std::vector<UserId> wrong;
  bool stopped = false;
  if (Status status = LookTwice(readers, &wrong, &stopped); !status.done()) return status;
  if (stopped) {
    result->left = readers.size();
    return Status::Done();
  }
  result->in_flight = readers.size() - wrong.size();
  const Duration pause = Duration(std::chrono::seconds(1)) / limits_.per_second;
  for (size_t i = 0; i < wrong.size(); ++i) {
    stopped = i > 0 && !ports_.wait(pause);
    if (stopped) {
      result->left += wrong.size() - i;
      wrong.resize(i);
      break;
    }
    if (Status status = Rebuild(wrong[i], result); !status.done()) return status;
  }
  std::vector<UserId> still;
  if (Status status = LookTwice(wrong, &still, &stopped); !status.done()) return status;
  result->still_wrong = still.size();
  return Status::Done();
}

Status Repair::LookTwice(const std::vector<UserId>& readers, std::vector<UserId>* wrong,
                         bool* stopped) {
  Wrong first, second;
  if (Status status = LookAt(readers, &first); !status.done()) return status;
  if (first.empty()) return Status::Done();
  *stopped = !ports_.wait(limits_.after);
  if (*stopped) return Status::Done();
  std::vector<UserId> again;
  for (const auto& [reader, differences] : first) again.push_back(reader);
  if (Status status = LookAt(again, &second); !status.done()) return status;
  for (const auto& [reader, differences] : second) {
    if (!audit::InBoth(first.at(reader), differences).empty()) wrong->push_back(reader);
  }
  return Status::Done();
}

Status Repair::LookAt(const std::vector<UserId>& readers, Wrong* wrong) const {
  for (const UserId reader : readers) {
    audit::Look look;
    if (Status status = ports_.look(reader, &look); !status.done()) return status;
    if (!look.differences.empty()) wrong->emplace(reader, std::move(look.differences));
  }
  return Status::Done();
}

Status Repair::Rebuild(UserId reader, RepairResult* result) const {
  if (Status status = ports_.drop(reader); !status.done()) return status;
  auto ended = timeline::RebuildResult::kUnderWay;
  if (Status status = ports_.rebuild(reader, &ended); !status.done()) return status;
  const bool refused =
      ended == timeline::RebuildResult::kRefused || ended == timeline::RebuildResult::kGaveUp;
  ++(refused ? result->left : result->rebuilt);  // else rebuilt by us or by a reader
  return Status::Done();
}

}  // namespace fanline::feedctl
