#include "api/operations/exchange.h"

namespace fanline::api {
namespace {

std::optional<ListCursor> ReadCursor(const Asked& asked) {
  const std::string* text = asked.Find("cursor");
  if (text == nullptr) return std::nullopt;
  if (auto cursor = ParseListCursor(*text)) return cursor;
  throw Refused{{Code::kBadCursor, Quoted(*text) + " is no cursor; send next_cursor of the page "
                                                   "before as it came, or none"}};
}

// `standings`: of who asked for relations to every entry.
Json BodyOf(const ListPage& page, const std::vector<Standing>* standings) {
  Json items = Json::array();
  for (size_t i = 0; i < page.entries.size(); ++i) {
    const ListEntry& entry = page.entries[i];
    Json item = {{"id", ToString(entry.user)}, {"since_ms", entry.pos}};
    if (entry.delivery) item["delivery"] = NameOf(*entry.delivery);
    if (standings != nullptr) item["relation"] = NameOf(standings->at(i).relation());
    items.push_back(std::move(item));
  }
  Json body = {{"items", std::move(items)}};
  if (page.next) body["next_cursor"] = CursorText(*page.next);
  return body;
}

// How `viewer` stands to every entry; not at all to themselves.
void AnswerWithRelations(UserId viewer, const ListPage& page, Exchange& shards) {
  CheckUsers check{.user = viewer};
  for (const ListEntry& entry : page.entries) check.others.push_back(entry.user);
  shards.Ask(std::move(check), [page, &shards](const UsersChecked& checked) {
    OrFail(checked.status);
    shards.Answer(BodyOf(page, &checked.standings));
  });
}

Call Read(const Asked& asked, UserList list) {
  asked.Takes({"limit", "cursor", "relation_to"});
  const ReadList request{0, list, asked.User(), ReadCursor(asked), asked.Limit()};
  std::optional<UserId> viewer;
  if (const std::string* text = asked.Find("relation_to")) {
    viewer = Asked::Id(*text, "relation_to");
  }
  return {.begin = [request, viewer](Exchange& shards) {
    shards.Ask(request, [viewer, &shards](const ListRead& read) {
      OrFail(read.status);
      if (viewer && !read.page.entries.empty())
        return AnswerWithRelations(*viewer, read.page, shards);
      shards.Answer(BodyOf(read.page, nullptr));
    });
  }};
}

}  // namespace

Call ListFollowing(const Asked& asked) { return Read(asked, UserList::kFollowing); }
Call ListFollowers(const Asked& asked) { return Read(asked, UserList::kFollowers); }
Call ListFriends(const Asked& asked) { return Read(asked, UserList::kFriends); }

}  // namespace fanline::api
