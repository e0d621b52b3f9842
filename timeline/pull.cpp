#include "timeline/pull.h"

#include <algorithm>

namespace fanline::timeline {
Pull::Pull(uint32_t want, std::optional<Position> after, uint32_t authors_per_read)
    : want_(want), after_(after), authors_per_read_(authors_per_read) {}

PullNeed Pull::needed() const {
  switch (stage_) {
    case Stage::kFollowees:
      return NeedFollowees{};
    case Stage::kLastAt:
      return NeedLastAt{followees_};
    case Stage::kOutboxes: {
      NeedOutboxes need{{}, after_, want_ + 1};  // one more tells whether something is left out
      for (size_t i = read_; i < group_end(); ++i) need.authors.push_back(authors_[i].author);
      return need;
    }
    case Stage::kDone:
      break;
  }
  return NothingNeeded{};
}

void Pull::OnFollowees(std::vector<UserId> authors) {
  followees_ = std::move(authors);
  stage_ = followees_.empty() ? Stage::kDone : Stage::kLastAt;
}

void Pull::OnLastAt(std::vector<AuthorLastAt> authors) {
  authors_ = std::move(authors);
  std::erase_if(authors_, [](const AuthorLastAt& author) { return author.last_at == 0; });
  std::sort(authors_.begin(), authors_.end(), [](const AuthorLastAt& a, const AuthorLastAt& b) {
    return a.last_at != b.last_at ? a.last_at > b.last_at : a.author < b.author;
  });
  stage_ = Stage::kOutboxes;
  StopIfEnough();
}

void Pull::OnOutboxes(const std::vector<Item>& items) {
  items_.insert(items_.end(), items.begin(), items.end());
  std::sort(items_.begin(), items_.end(), IsNewer);
  // Only the newest of what is left out matters, and it stays among the first want + 1.
  if (items_.size() > want_ + 1) items_.resize(want_ + 1);
  read_ = group_end();
  StopIfEnough();
}

size_t Pull::group_end() const { return std::min(authors_.size(), read_ + authors_per_read_); }

bool Pull::enough() const {
  if (read_ == authors_.size()) return true;
  if (items_.size() < want_) return false;
  return want_ == 0 || items_[want_ - 1].created_at > authors_[read_].last_at;
}

void Pull::StopIfEnough() {
  if (!enough()) return;
  stage_ = Stage::kDone;
  if (read_ < authors_.size()) floor_ = authors_[read_].last_at;
  if (items_.size() > want_) {
    floor_ = std::max(floor_, items_[want_].created_at);
    items_.resize(want_);
  }
}

}  // namespace fanline::timeline
