#include "audit/look.h"

#include <algorithm>
#include <limits>

#include "audit/timeline_check.h"

namespace fanline::audit {
namespace {

bool Contains(const std::vector<Difference>& differences, const Difference& one) {
  return std::any_of(differences.begin(), differences.end(), [&](const Difference& other) {
    return one.kind == other.kind && one.item == other.item && one.mark == other.mark &&
           one.mutes == other.mutes && one.mutes_wanted == other.mutes_wanted;
  });
}

uint64_t CountOf(const std::vector<Difference>& differences, Kind item, Kind mark) {
  return static_cast<uint64_t>(
      std::count_if(differences.begin(), differences.end(), [&](const Difference& difference) {
        return difference.kind == item || difference.kind == mark;
      }));
}

}  // namespace

// The truth about one reader's timeline, newer than its floor.
struct Looker::Known {
  explicit Known(UserId reader) : readers{reader}, part(readers) {}

  const std::vector<UserId> readers;
  TimelineTruth::Part part;
  bool too_much = false;  // to read
  bool whole = true;      // all posts were read
};

Status Looker::LookAt(UserId reader, Look* look) {
  *look = {};
  RawTimeline timeline;
  bool indexed = true;
  if (Status status = timelines_.Read(reader, &timeline, &indexed); !status.done()) return status;
  const bool malformed = !timeline.problem.empty();
  look->gone = !malformed && timeline.state == TimelineState::kNotLive;
  Known known(reader);
  if (!malformed) {
    if (timeline.state != TimelineState::kReady) return Status::Done();
    if (Status status = ReadTruth(reader, timeline.floor, &known); !status.done()) return status;
    if (Status status = truth_.Confirm(); !status.done()) return status;
    look->too_much = known.too_much;
  }
  // false: where own posts are wanted, the reader is already among the followees.
  const TimelineTruth truth(known.readers, {std::move(known.part)}, false);
  TimelineCheck check(truth, least_, std::numeric_limits<size_t>::max());
  look->judged = !look->too_much;
  check.Check(look->judged ? std::optional<size_t>(0) : std::nullopt, timeline, indexed);
  look->items = check.findings().items;
  look->differences = check.findings().differences;
  if (!known.whole) {
    std::erase_if(look->differences, [](const auto& one) { return one.kind == Kind::kExtra; });
  }
  return Status::Done();
}

Status Looker::ReadTruth(UserId reader, Floor floor, Known* known) {
  std::vector<UserId> followees;
  if (Status status = truth_.Followees(reader, &followees); !status.done()) return status;
  known->part.AddMutes(reader, truth_.mutes().mark());
  if (own_posts_) followees.push_back(reader);
  known->too_much = followees.size() > limits_.most_followees;
  if (known->too_much || followees.empty()) return Status::Done();
  std::vector<AuthorLastAt> authors;
  if (Status status = truth_.LastAt(followees, &authors); !status.done()) return status;
  const auto marked = std::count_if(authors.begin(), authors.end(),
                                    [](const AuthorLastAt& author) { return author.marked; });
  known->too_much = marked > limits_.most_marked;
  if (known->too_much) return Status::Done();
  std::vector<PostsOf> pushed;
  for (const AuthorLastAt& author : authors) {
    const std::vector<UserId>& chosen = truth_.no_reposts();
    const bool no_reposts = std::binary_search(chosen.begin(), chosen.end(), author.author);
    known->part.AddEdge(reader, author.author, !no_reposts);
    if (author.last_at > floor) pushed.push_back({author.author, true});
    if (!author.marked) continue;
    known->part.AddMarked(author.author, author.announced);
    if (author.last_at <= floor) continue;
    Status status = ReadPosts({{author.author, false}}, floor, known);
    if (!status.done()) return status;
  }
  return pushed.empty() ? Status::Done() : ReadPosts(pushed, floor, known);
}

Status Looker::ReadPosts(const std::vector<PostsOf>& of, Floor floor, Known* known) {
  ItemsRead read;
  const TimeSpan span{.above = floor, .up_to = {}, .behind = {}};
  if (Status status = truth_.Items(of, span, limits_.most_items, &read); !status.done()) {
    return status;
  }
  known->whole = known->whole && !read.partial && read.unread.empty();
  for (const Item& item : read.items) known->part.AddPost(item, of.front().pushed);
  return Status::Done();
}

std::vector<Difference> InBoth(std::vector<Difference> before, const std::vector<Difference>& now) {
  std::erase_if(before, [&](const Difference& one) { return !Contains(now, one); });
  return before;
}

std::vector<Difference> Without(std::vector<Difference> differences,
                                const std::vector<Difference>& known) {
  std::erase_if(differences, [&](const Difference& one) { return Contains(known, one); });
  return differences;
}

uint64_t MissingIn(const std::vector<Difference>& differences) {
  return CountOf(differences, Kind::kMissing, Kind::kMissingMark);
}

uint64_t SurplusIn(const std::vector<Difference>& differences) {
  return CountOf(differences, Kind::kExtra, Kind::kExtraMark);
}

}  // namespace fanline::audit
