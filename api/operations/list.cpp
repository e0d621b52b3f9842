#include "api/operations/call.h"
#include "fanline/base/check.h"

namespace fanline::api {
namespace {

std::optional<ListCursor> ReadCursor(const Asked& asked) {
  const std::string* text = asked.Find("cursor");
  if (text == nullptr) return std::nullopt;
  if (auto cursor = ParseListCursor(*text)) return cursor;
  throw Refused{{Code::kBadCursor, Quoted(*text) + " is no cursor; send next_cursor of the page "
                                                   "before as it came, or none"}};
}

// The relations of `viewer` with every entry; none with the viewer.
std::vector<CheckAnswer> RelationsOf(UserId viewer, const ListPage& page, RelationStore& store) {
  std::vector<CheckItem> items;
  for (const ListEntry& entry : page.entries) items.push_back({.user = Raw(entry.user)});
  std::vector<CheckAnswer> answers;
  OrFail(store.Check(viewer, items, Sides::kBoth, &answers));
  FANLINE_CHECK(answers.size() == items.size(), "a relation for every entry");
  return answers;
}

Call Read(const Asked& asked, UserList list) {
  asked.Takes({"limit", "cursor", "relation_to"});
  const UserId user = asked.User();
  const uint32_t limit = asked.Limit();
  const auto after = ReadCursor(asked);
  std::optional<UserId> viewer;
  std::vector<UserId> owners = {user};
  if (const std::string* text = asked.Find("relation_to")) {
    viewer = Asked::Id(*text, "relation_to");
    owners.push_back(*viewer);
  }
  return {std::move(owners), [=](RelationStore& store, const Context&) {
            ListPage page;
            OrFail(store.ReadList(list, user, after, limit, &page));
            std::vector<CheckAnswer> relations;
            if (viewer) relations = RelationsOf(*viewer, page, store);
            Json items = Json::array();
            for (size_t i = 0; i < page.entries.size(); ++i) {
              const ListEntry& entry = page.entries[i];
              Json item = {{"id", ToString(entry.user)}, {"since_ms", entry.pos}};
              if (viewer) item["relation"] = NameOf(relations[i].relation);
              items.push_back(std::move(item));
            }
            Json body = {{"items", std::move(items)}};
            if (page.next) body["next_cursor"] = CursorText(*page.next);
            return body;
          }};
}

}  // namespace

Call ListFollowing(const Asked& asked) { return Read(asked, UserList::kFollowing); }
Call ListFollowers(const Asked& asked) { return Read(asked, UserList::kFollowers); }
Call ListFriends(const Asked& asked) { return Read(asked, UserList::kFriends); }

}  // namespace fanline::api
