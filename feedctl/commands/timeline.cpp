// feedctl timeline: a page of one reader's home timeline, as the reader would see it.
#include <cstdio>

#include "backends/mysql/posts/reader_truth.h"
#include "backends/redis/reader_timelines.h"
#include "feedctl/commands/command.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"
#include "feedctl/support/pages.h"
#include "feedctl/support/text.h"
#include "feedctl/support/user_id.h"
#include "timeline/reader.h"
#include "timeline/tokens.h"

namespace fanline::feedctl {
namespace {

// Why a timeline is as full as it is.
struct Followed {
  uint64_t authors = 0;
  uint64_t have_posted = 0;
};

const char* SourceOf(const timeline::Page& page) {
  if (!page.live()) return "pulled";
  return page.cached < page.items.size() ? "live and pulled" : "live";
}

class Timeline : public Command {
 public:
  Timeline(daemon::OptionTable& table, Settings& settings) : Command(settings) {
    table.AddPositional("reader", &reader_, "whose timeline");
    table.Add("limit", &limit_, "items of the page").Range(1, 1000);
    AddPlaces(table, places_);
    table.Add("json", &json_, "print the page as one JSON object");
    options::AddOptions(table, settings.redis);
    options::AddWindow(table, settings.agreed);
    options::AddOptions(table, settings.timelines);
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt&) override {
    const UserId reader = RequireUserId("<reader>", reader_);
    const timeline::PageQuery query = QueryOf(places_, limit_);
    const mysql::Installation installation = ReadInstalled(settings_);
    mysql::MysqlReaderTruth truth(options::ToConfig(settings_.mysql), installation.shard_map);
    UserFacts facts;
    Require(truth.LookUp(reader, &facts), settings_);
    if (!facts.known) {
      throw Failure(kExitNoUser, "nobody knows user " + reader_ +
                                     ": follows nobody, is followed by nobody, has not posted");
    }
    redis::RedisReaderTimelines timelines(RequireRedis(settings_, installation));
    timeline::PageRead read(query, timeline::OwnOf(reader, installation.own_posts));
    timeline::Page page = ReadPage(reader, read, truth, timelines);
    if (!page.live() && !query.older_than) {
      // Makes the timeline live, as the API does. The page is complete even if that fails.
      timeline::Tokens tokens;
      timeline::Reader home(
          truth, timelines, installation.window, [&tokens] { return tokens.Next(); },
          installation.own_posts);
      timeline::RebuildResult ignored{};
      static_cast<void>(home.Activate(reader, &ignored));
    }
    const Followed followed = ReadFollowed(truth, reader);
    json_ ? PrintJson(page, followed) : PrintText(page, followed, query);
    return 0;
  }

 private:
  // Unlike a reader, an operator wants to know when Redis is away.
  timeline::Page ReadPage(UserId reader, timeline::PageRead& read, ReaderTruth& truth,
                          ReaderTimelines& timelines) const {
    Require(timeline::AskTimeline(reader, timelines, read), settings_);
    Require(timeline::FinishPage(reader, truth, read), settings_);
    return read.Take();
  }

  Followed ReadFollowed(ReaderTruth& truth, UserId reader) const {
    std::vector<UserId> authors;
    std::vector<AuthorLastAt> last;
    Followed followed;
    truth.ForgetReads();  // a rebuild may have ended between them
    Require(truth.Followees(reader, &authors), settings_);
    Require(truth.LastAt(authors, &last), settings_);
    Require(truth.Confirm(), settings_);
    followed.authors = authors.size();
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

  void PrintText(const timeline::Page& page, const Followed& followed,
                 const timeline::PageQuery& query) const {
    std::printf("reader %s %s; %s\n", reader_.c_str(), WhoPosted(followed).c_str(),
                Source(page).c_str());
    PrintPage(page, query);
  }

  static std::string Source(const timeline::Page& page) {
    if (!page.live()) return "not live: pulled from the shards";
    if (page.cached == page.items.size()) return "from the live timeline";
    return "live: " + Counted(page.cached, "item") + ", the rest pulled from below its floor";
  }

  void PrintJson(const timeline::Page& page, const Followed& followed) const {
    PutJson({{"reader", reader_},
             {"follows", followed.authors},
             {"have_posted", followed.have_posted},
             {"source", SourceOf(page)},
             {"items", ItemsOf(page)},
             {"newest", NewestOf(page)},
             {"next", NextOf(page)}});
  }

  std::string reader_;
  uint32_t limit_ = 20;
  Places places_;
  bool json_ = false;
};

}  // namespace

extern const Row kTimeline = RowOf<Timeline>("timeline", "shows a page of a reader's timeline");

}  // namespace fanline::feedctl
