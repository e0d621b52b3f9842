// Pages of posts: home timelines, authors' own posts, and how many are new.
//
// A page is asked for by places in the one order of posts. `cursor` goes on behind a place, towards
// older posts; `newer_than` stops at one. Both together are the posts between the two.
#include "api/operations/bounds.h"
#include "api/operations/call.h"
#include "fanline/ports/cursor.h"

namespace fanline::api {
namespace {

std::optional<Position> ReadPlace(const Asked& asked, std::string_view parameter,
                                  std::string_view sent) {
  const std::string* text = asked.Find(parameter);
  if (text == nullptr) return std::nullopt;
  if (auto place = ParseCursor(*text)) return place;
  throw Refused{{Code::kBadCursor, Quoted(*text) + " in " + std::string(parameter) +
                                       " is no cursor; send " + std::string(sent) +
                                       " of a page as it came, or none"}};
}

Json PageBody(const PageCall& call, const timeline::Page& page, const PageFacts& facts) {
  Json items = Json::array();
  for (const Item& item : page.items) {
    items.push_back({{"id", ToString(item.post)}, {"created_at_ms", item.created_at}});
  }
  Json body = {{"items", std::move(items)}};
  // Where a client who has seen this page asks on for newer ones, whether there were any or not.
  if (!page.items.empty()) {
    body["newest_cursor"] = CursorText({page.items.front().created_at, page.items.front().post});
  } else if (call.query.newer_than) {
    body["newest_cursor"] = CursorText(*call.query.newer_than);
  }
  if (page.next) body["next_cursor"] = CursorText(*page.next);
  if (call.of == PageCall::Of::kHome) body["state"] = NameOf(facts.state);
  if (facts.empty_because) body["empty_because"] = NameOf(*facts.empty_because);
  return body;
}

Json CountBody(const PageCall&, const timeline::Page& page, const PageFacts&) {
  return {{"count", page.items.size()}, {"more", page.next.has_value()}};
}

Call ReadPage(const Asked& asked, PageCall::Of of) {
  asked.Takes({"limit", "cursor", "newer_than"});
  PageCall call;
  call.of = of;
  call.user = asked.User();
  call.query = {.limit = asked.Limit(),
                .older_than = ReadPlace(asked, "cursor", "next_cursor"),
                .newer_than = ReadPlace(asked, "newer_than", "newest_cursor")};
  call.answer = PageBody;
  return {.owners = {}, .page = std::make_shared<const PageCall>(std::move(call))};
}

Call CountNewer(const Asked& asked, PageCall::Of of) {
  asked.Takes({"newer_than"});
  PageCall call;
  call.of = of;
  call.user = asked.User();
  call.query = {.limit = kMostPerPage,
                .newer_than = ReadPlace(asked, "newer_than", "newest_cursor")};
  call.answer = CountBody;
  return {.owners = {}, .page = std::make_shared<const PageCall>(std::move(call))};
}

}  // namespace

std::string_view NameOf(PageFacts::State state) {
  switch (state) {
    case PageFacts::State::kLive:
      return "live";
    case PageFacts::State::kBuilding:
      return "building";
    case PageFacts::State::kPulled:
      return "pulled";
  }
  return "";
}

Call GetTimeline(const Asked& asked) { return ReadPage(asked, PageCall::Of::kHome); }
Call CountTimeline(const Asked& asked) { return CountNewer(asked, PageCall::Of::kHome); }
Call GetPosts(const Asked& asked) { return ReadPage(asked, PageCall::Of::kPosts); }
Call CountPosts(const Asked& asked) { return CountNewer(asked, PageCall::Of::kPosts); }

}  // namespace fanline::api
