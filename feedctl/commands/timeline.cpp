// feedctl timeline: a page of one reader's home timeline, as the reader would see it.
#include <cstdio>

#include "backends/mysql/posts/reader_truth.h"
#include "backends/mysql/tools/users.h"
#include "backends/redis/reader_timelines.h"
#include "daemon/observe/log.h"
#include "fanline/ports/cursor.h"
#include "feedctl/commands/command.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"
#include "feedctl/support/text.h"
#include "feedctl/support/tokens.h"
#include "feedctl/support/user_id.h"
#include "timeline/reader.h"

namespace fanline::feedctl {
namespace {

// Why a timeline is as full as it is.
struct Followed {
  uint64_t authors = 0;
  uint64_t have_posted = 0;
};

const char* SourceOf(const timeline::Reader::Page& page) {
  if (!page.live) return "pulled";
  return page.cached < page.items.size() ? "live and pulled" : "live";
}

class Timeline : public Command {
 public:
  Timeline(daemon::OptionTable& table, Settings& settings) : Command(settings) {
    table.AddPositional("reader", &reader_, "whose timeline");
    table.Add("limit", &limit_, "items of the page").Range(1, 1000);
    table.Add("after", &after_, "where the page begins: the cursor an earlier page ended with")
        .Unit("CURSOR");
    table.Add("json", &json_, "print the page as one JSON object");
    options::AddOptions(table, settings.redis);
    options::AddWindow(table, settings.agreed);
    options::AddOptions(table, settings.timelines);
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt&) override {
    const UserId reader = RequireUserId("<reader>", reader_);
    const auto after = After();
    const mysql::Installation installation = ReadInstalled(settings_);
    const auto config = options::ToConfig(settings_.mysql);
    mysql::ShardConnections connections(config);
    bool known = false;
    Require(mysql::IsKnown(connections, installation.shard_map, reader, &known), settings_);
    if (!known) {
      throw Failure(kExitNoUser, "nobody knows user " + reader_ +
                                     ": follows nobody, is followed by nobody, has not posted");
    }
    mysql::MysqlReaderTruth truth(config, installation.shard_map);
    redis::RedisReaderTimelines timelines(RequireRedis(settings_, installation));
    Tokens tokens;
    timeline::Reader pages(truth, timelines, installation.window,
                           [&tokens] { return tokens.Next(); });
    timeline::Reader::Page page;
    Require(pages.Read(reader, after, limit_, &page), settings_);
    const Followed followed = ReadFollowed(truth, reader);
    json_ ? PrintJson(page, followed) : PrintText(page, followed, after.has_value());
    return 0;
  }

 private:
  std::optional<Position> After() const {
    const auto cursor = ParseCursor(after_);
    RequireUsage(after_.empty() || cursor ? ""
                                          : "--after: " + QuotedShort(after_) +
                                                " is no cursor; pass what a page ended with");
    return cursor;
  }

  Followed ReadFollowed(ReaderTruth& truth, UserId reader) const {
    std::vector<UserId> authors;
    std::vector<AuthorLastAt> last;
    Require(truth.Followees(reader, &authors), settings_);
    Require(truth.LastAt(authors, &last), settings_);
    Followed followed{authors.size(), 0};
    for (const AuthorLastAt& author : last) followed.have_posted += author.last_at > 0 ? 1 : 0;
    return followed;
  }

  std::string WhoPosted(const Followed& followed) const {
    if (followed.authors == 0) return "follows nobody";
    const std::string authors = "follows " + Counted(followed.authors, "author");
    if (followed.have_posted == 0) return authors + ", of whom nobody has posted yet";
    return authors + ", of whom " + Grouped(followed.have_posted) +
           (followed.have_posted == 1 ? " has posted" : " have posted");
  }

  void PrintText(const timeline::Reader::Page& page, const Followed& followed, bool later) const {
    std::printf("reader %s %s; %s\n", reader_.c_str(), WhoPosted(followed).c_str(),
                Source(page).c_str());
    for (const Item& item : page.items) {
      std::printf("%s  %s\n", daemon::Rfc3339(item.created_at).c_str(),
                  ToString(item.post).c_str());
    }
    if (page.items.empty()) std::printf(later ? "nothing older\n" : "nothing to show\n");
    if (page.next) std::printf("next page: --after %s\n", CursorText(*page.next).c_str());
  }

  static std::string Source(const timeline::Reader::Page& page) {
    if (!page.live) return "not live: pulled from the shards";
    if (page.cached == page.items.size()) return "from the live timeline";
    return "live: " + Counted(page.cached, "item") + ", the rest pulled from below its floor";
  }

  void PrintJson(const timeline::Reader::Page& page, const Followed& followed) const {
    Json items = Json::array();
    for (const Item& item : page.items) {
      items.push_back({{"post_id", ToString(item.post)}, {"created_at_ms", item.created_at}});
    }
    PutJson({{"reader", reader_},
             {"follows", followed.authors},
             {"have_posted", followed.have_posted},
             {"source", SourceOf(page)},
             {"items", std::move(items)},
             {"next", page.next ? Json(CursorText(*page.next)) : Json()}});
  }

  std::string reader_;
  uint32_t limit_ = 20;
  std::string after_;
  bool json_ = false;
};

}  // namespace

extern const Row kTimeline = RowOf<Timeline>("timeline", "shows a page of a reader's timeline");

}  // namespace fanline::feedctl
