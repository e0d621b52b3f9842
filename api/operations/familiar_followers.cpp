// Looks through the users whom the viewer followed last, page by page, until there are enough who
// follow the other.
#include <algorithm>
#include <memory>

#include "api/operations/exchange.h"

namespace fanline::api {
namespace {

// The most users that one request looks through. An import is held to no limit, so a list of
// followed users has no bound.
constexpr size_t kMostLookedThrough = 10'000;

struct Search {
  EdgeKey pair;  // the viewer, and who is followed
  size_t limit = 0;
  std::vector<UserId> found = {};
  size_t left = kMostLookedThrough;

  bool wants_more() const { return found.size() < limit && left > 0; }
};
using Shared = std::shared_ptr<Search>;

void ReadOn(const Shared& search, const std::optional<ListCursor>& after, Exchange& shards);

void AnswerWith(const Search& search, Exchange& shards) {
  Json items = Json::array();
  for (const UserId user : search.found) items.push_back({{"id", ToString(user)}});
  shards.Answer({{"items", std::move(items)}});
}

void LookThrough(const Shared& search, const ListPage& page, Exchange& shards) {
  CheckUsers check{.user = search->pair.dst, .sides = Sides::kFollowers};
  for (const ListEntry& entry : page.entries) check.others.push_back(entry.user);
  search->left -= std::min(search->left, page.entries.size());
  shards.Ask(check, [search, users = check.others, next = page.next,
                     &shards](const UsersChecked& checked) {
    OrFail(checked.status);
    for (size_t i = 0; i < users.size() && search->found.size() < search->limit; ++i) {
      if (checked.standings.at(i).follower.live) search->found.push_back(users[i]);
    }
    if (next && search->wants_more()) return ReadOn(search, next, shards);
    AnswerWith(*search, shards);
  });
}

void ReadOn(const Shared& search, const std::optional<ListCursor>& after, Exchange& shards) {
  const auto most = std::min<size_t>(search->left, ReadList::kMostEntries);
  shards.Ask(
      ReadList{0, UserList::kFollowing, search->pair.src, after, static_cast<uint32_t>(most)},
      [search, &shards](const ListRead& read) {
        OrFail(read.status);
        LookThrough(search, read.page, shards);
      });
}

}  // namespace

Call ListFamiliarFollowers(const Asked& asked) {
  asked.Takes({"limit"});
  const Search search{asked.Pair(), asked.Limit()};
  return {.begin = [search](Exchange& shards) {
    ReadOn(std::make_shared<Search>(search), {}, shards);
  }};
}

}  // namespace fanline::api
