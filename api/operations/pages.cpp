// Pages of posts: home timelines, authors' own posts, and how many are new.
//
// A page is given by places in the order of posts. `cursor` continues after a place, towards older
// posts; `newer_than` stops at a place. Both together give the posts between the two.
//
// Posts may arrive late or be dated ahead. So the place from which a client asks for newer posts is
// never later than what has settled. Later posts that a client has seen are shown again; `:count`
// leaves out as many as the client has seen. `expand=body` adds to each post its row of the
// application's table.
#include <algorithm>

#include "api/operations/bounds.h"
#include "api/operations/call.h"
#include "fanline/ports/cursor.h"

namespace fanline::api {
namespace {

template <typename Place>
std::optional<Place> ReadPlace(const Asked& asked, std::string_view parameter,
                               std::string_view sent,
                               std::optional<Place> (*parse)(std::string_view)) {
  const std::string* text = asked.Find(parameter);
  if (text == nullptr) return std::nullopt;
  if (auto place = parse(*text)) return place;
  throw Refused{{Code::kBadCursor, Quoted(*text) + " in " + std::string(parameter) +
                                       " is no cursor; send " + std::string(sent) +
                                       " of a page as it came, or none"}};
}

// No page shows more posts than kMostPerPage.
std::optional<SeenCursor> ParseNewest(std::string_view text) {
  const auto seen = ParseSeenCursor(text);
  return seen && seen->before <= kMostPerPage ? seen : std::nullopt;
}

void ReadNewerThan(const Asked& asked, PageCall& call) {
  call.newer_than = ReadPlace(asked, "newer_than", "newest_cursor", ParseNewest);
  if (call.newer_than) call.query.newer_than = call.newer_than->place;
}

bool ReadExpand(const Asked& asked) {
  const std::string* text = asked.Find("expand");
  if (text == nullptr) return false;
  if (*text == "body") return true;
  throw Refused{{Code::kBadParameter, "expand is " + Quoted(*text) + "; there is body"}};
}

timeline::Reposts ReadReposts(const Asked& asked) {
  const std::string* text = asked.Find("reposts");
  if (text == nullptr || *text == "merge") return timeline::Reposts::kMerge;
  if (*text == "each") return timeline::Reposts::kEach;
  if (*text == "none") return timeline::Reposts::kNone;
  throw Refused{
      {Code::kBadParameter, "reposts is " + Quoted(*text) + "; there are merge, each and none"}};
}

Json ToJson(const BodyValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return *number;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return nullptr;
}

// The application's texts may not be UTF-8.
std::string TextOf(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json BodyOf(const PageFacts& facts, size_t item) {
  Json body = Json::object();
  const BodyValues& values = facts.bodies->of_items[item];
  for (size_t k = 0; k < values.size(); ++k) body[(*facts.columns)[k]] = ToJson(values[k]);
  return body;
}

void AppendUser(const char* name, UserId user, std::string& text) {
  text.append(name).append(IdText(Raw(user))).append("\"");
}

// What an item has that stands where reposts brought it.
void AppendSources(const timeline::Sources& sources, std::string& text) {
  text.append(",\"place_ms\":").append(std::to_string(sources.place.created_at));
  text.append(",\"posted\":").append(sources.posted ? "true" : "false").append(",\"reposts\":[");
  for (const timeline::Repost& repost : sources.reposts) {
    if (text.back() != '[') text += ',';
    AppendUser("{\"by\":\"", repost.by, text);
    text.append(",\"at_ms\":").append(std::to_string(repost.at));
    text.append(",\"id\":\"").append(IdText(Raw(repost.post))).append("\"}");
  }
  text.append("],\"more_reposts\":").append(sources.more ? "true" : "false");
}

// Writes ids and times directly: a JSON tree of them would cost more than the rest of the page.
std::string ItemsOf(const timeline::Page& page, const PageFacts& facts) {
  const bool bodies = facts.bodies && facts.bodies->available;
  std::string text = "[";
  text.reserve(112 * page.items.size() + 2);
  for (size_t i = 0; i < page.items.size(); ++i) {
    if (i > 0) text += ',';
    const Item& item = page.items[i];
    text.append("{\"id\":\"").append(IdText(Raw(item.post)));
    text.append("\",\"created_at_ms\":").append(std::to_string(item.created_at));
    AppendUser(",\"author_id\":\"", item.author, text);
    text.append(",\"kind\":\"").append(NameOf(item.kind())).append("\"");
    if (item.original) {
      text.append(",\"repost_of\":{\"id\":\"").append(IdText(Raw(item.original.post)));
      AppendUser("\",\"author_id\":\"", item.original.author, text);
      text += '}';
    }
    if (!page.sources.empty() && !page.sources[i].reposts.empty()) {
      AppendSources(page.sources[i], text);
    }
    if (bodies) text.append(",\"body\":").append(TextOf(BodyOf(facts, i)));
    text += '}';
  }
  return text += ']';
}

std::optional<Position> BeginOf(const PageCall& call, const timeline::Page& page,
                                const PageFacts& facts) {
  if (facts.bodies && facts.bodies->newest) return facts.bodies->newest;
  if (page.items.empty()) return call.query.newer_than;
  return PlaceOf(page, 0);
}

// The place from which a client that has seen this page asks for newer posts, even after an empty
// page. A page that may lack posts does not move it.
std::optional<SeenCursor> NewestOf(const PageCall& call, const timeline::Page& page,
                                   const PageFacts& facts) {
  if (facts.incomplete || facts.mutes_unknown) return call.newer_than;
  const auto begin = BeginOf(call, page, facts);
  if (!begin) return std::nullopt;
  if (begin->created_at <= facts.settled) return SeenCursor{*begin};
  uint32_t later = 0;
  for (size_t i = 0; i < page.items.size(); ++i) {
    if (PlaceOf(page, i).created_at > facts.settled) ++later;
  }
  return SeenCursor{{facts.settled, kFirstOfMoment}, later};
}

std::string PageBody(const PageCall& call, const timeline::Page& page, const PageFacts& facts) {
  Json body = Json::object();
  if (const auto newest = NewestOf(call, page, facts)) body["newest_cursor"] = CursorText(*newest);
  if (page.next) body["next_cursor"] = CursorText(*page.next);
  if (facts.bodies) body["bodies"] = facts.bodies->available ? "complete" : "unavailable";
  if (call.of == PageCall::Of::kHome) {
    body["state"] = PageFacts::kStates[static_cast<size_t>(facts.state)];
  }
  if (facts.empty_because) body["empty_because"] = NameOf(*facts.empty_because);
  if (facts.incomplete) body["incomplete"] = true;
  if (facts.mutes_unknown) body["mutes_unknown"] = true;
  std::string text = "{\"items\":" + ItemsOf(page, facts);
  if (body.empty()) return text += '}';
  return text.append(",").append(TextOf(body), 1);  // without its brace
}

std::string CountBody(const PageCall& call, const timeline::Page& page, const PageFacts& facts) {
  const size_t seen = call.newer_than ? call.newer_than->before : 0;
  const size_t count = page.items.size() - std::min(page.items.size(), seen);
  Json body = {{"count", count}, {"more", page.next.has_value()}};
  if (facts.incomplete) body["incomplete"] = true;
  if (facts.mutes_unknown) body["mutes_unknown"] = true;
  return TextOf(body);
}

// A page of an author's posts shows each repost.
void ReadReposts(const Asked& asked, PageCall& call) {
  call.query.reposts =
      call.of == PageCall::Of::kHome ? ReadReposts(asked) : timeline::Reposts::kEach;
}

Call ReadPage(const Asked& asked, PageCall::Of of) {
  const bool home = of == PageCall::Of::kHome;
  home ? asked.Takes({"limit", "cursor", "newer_than", "expand", "reposts"})
       : asked.Takes({"limit", "cursor", "newer_than", "expand"});
  PageCall call;
  call.of = of;
  ReadReposts(asked, call);
  call.user = asked.User();
  call.query.limit = asked.Limit();
  call.query.older_than = ReadPlace(asked, "cursor", "next_cursor", ParseCursor);
  ReadNewerThan(asked, call);
  call.bodies = ReadExpand(asked);
  call.answer = PageBody;
  return {.page = std::make_shared<const PageCall>(std::move(call))};
}

Call CountNewer(const Asked& asked, PageCall::Of of) {
  of == PageCall::Of::kHome ? asked.Takes({"newer_than", "reposts"}) : asked.Takes({"newer_than"});
  PageCall call;
  call.of = of;
  ReadReposts(asked, call);
  call.user = asked.User();
  ReadNewerThan(asked, call);
  call.query.limit = kMostPerPage + (call.newer_than ? call.newer_than->before : 0);
  call.answer = CountBody;
  return {.page = std::make_shared<const PageCall>(std::move(call))};
}

}  // namespace

Call GetTimeline(const Asked& asked) { return ReadPage(asked, PageCall::Of::kHome); }
Call CountTimeline(const Asked& asked) { return CountNewer(asked, PageCall::Of::kHome); }
Call GetPosts(const Asked& asked) { return ReadPage(asked, PageCall::Of::kPosts); }
Call CountPosts(const Asked& asked) { return CountNewer(asked, PageCall::Of::kPosts); }

}  // namespace fanline::api
