// Pages of posts: home timelines, authors' own posts, and how many are new.
//
// A page is asked for by places in the one order of posts. `cursor` goes on behind a place, towards
// older posts; `newer_than` stops at one. Both together are the posts between the two.
// `expand=body` adds to each post what the application's table says of it.
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

bool ReadExpand(const Asked& asked) {
  const std::string* text = asked.Find("expand");
  if (text == nullptr) return false;
  if (*text == "body") return true;
  throw Refused{{Code::kBadParameter, "expand is " + Quoted(*text) + "; there is body"}};
}

Json ToJson(const BodyValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return *number;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return nullptr;
}

// Texts of the application need not be UTF-8.
std::string TextOf(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json BodyOf(const PageFacts& facts, size_t item) {
  Json body = Json::object();
  const BodyValues& values = facts.bodies->of_items[item];
  for (size_t k = 0; k < values.size(); ++k) body[(*facts.columns)[k]] = ToJson(values[k]);
  return body;
}

// Ids and times need no care: a tree of them would cost more than all else of a page.
std::string ItemsOf(const timeline::Page& page, const PageFacts& facts) {
  const bool bodies = facts.bodies && facts.bodies->available;
  std::string text = "[";
  text.reserve(64 * page.items.size() + 2);
  for (size_t i = 0; i < page.items.size(); ++i) {
    if (i > 0) text += ',';
    text.append("{\"id\":\"").append(MemberText(page.items[i].post));
    text.append("\",\"created_at_ms\":").append(std::to_string(page.items[i].created_at));
    if (bodies) text.append(",\"body\":").append(TextOf(BodyOf(facts, i)));
    text += '}';
  }
  return text += ']';
}

// Where a client who has seen this page asks on for newer ones, whether there were any or not.
std::optional<Position> NewestOf(const PageCall& call, const timeline::Page& page,
                                 const PageFacts& facts) {
  if (facts.bodies && facts.bodies->newest) return facts.bodies->newest;
  if (page.items.empty()) return call.query.newer_than;
  return Position{page.items.front().created_at, page.items.front().post};
}

std::string PageBody(const PageCall& call, const timeline::Page& page, const PageFacts& facts) {
  Json body = Json::object();
  if (const auto newest = NewestOf(call, page, facts)) body["newest_cursor"] = CursorText(*newest);
  if (page.next) body["next_cursor"] = CursorText(*page.next);
  if (facts.bodies) body["bodies"] = facts.bodies->available ? "complete" : "unavailable";
  if (call.of == PageCall::Of::kHome) body["state"] = NameOf(facts.state);
  if (facts.empty_because) body["empty_because"] = NameOf(*facts.empty_because);
  std::string text = "{\"items\":" + ItemsOf(page, facts);
  if (body.empty()) return text += '}';
  return text.append(",").append(TextOf(body), 1);  // without its brace
}

std::string CountBody(const PageCall&, const timeline::Page& page, const PageFacts&) {
  return TextOf({{"count", page.items.size()}, {"more", page.next.has_value()}});
}

Call ReadPage(const Asked& asked, PageCall::Of of) {
  asked.Takes({"limit", "cursor", "newer_than", "expand"});
  PageCall call;
  call.of = of;
  call.user = asked.User();
  call.query = {.limit = asked.Limit(),
                .older_than = ReadPlace(asked, "cursor", "next_cursor"),
                .newer_than = ReadPlace(asked, "newer_than", "newest_cursor")};
  call.bodies = ReadExpand(asked);
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
