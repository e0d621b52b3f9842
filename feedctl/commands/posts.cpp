// feedctl posts: a page of an author's own posts.
#include "backends/mysql/posts/reader_truth.h"
#include "feedctl/commands/command.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"
#include "feedctl/support/pages.h"
#include "feedctl/support/user_id.h"
#include "timeline/reader.h"

namespace fanline::feedctl {
namespace {

class Posts : public Command {
 public:
  Posts(daemon::OptionTable& table, Settings& settings) : Command(settings) {
    table.AddPositional("author", &author_, "whose posts");
    table.Add("limit", &limit_, "items of the page").Range(1, 1000);
    AddPlaces(table, places_);
    table.Add("json", &json_, "print the page as one JSON object");
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt&) override {
    const UserId author = RequireUserId("<author>", author_);
    const timeline::PageQuery query = QueryOf(places_, limit_);
    const mysql::Installation installation = ReadInstalled(settings_);
    mysql::MysqlReaderTruth truth(options::ToConfig(settings_.mysql), installation.shard_map);
    timeline::Page page;
    Require(timeline::ReadPosts(author, query, truth, &page), settings_);
    if (json_) {
      PutJson({{"author", author_},
               {"items", ItemsOf(page)},
               {"newest", NewestOf(page)},
               {"next", NextOf(page)}});
    } else {
      PrintPage(page, query);
    }
    return 0;
  }

 private:
  std::string author_;
  uint32_t limit_ = 20;
  Places places_;
  bool json_ = false;
};

}  // namespace

extern const Row kPosts = RowOf<Posts>("posts", "shows a page of an author's own posts");

}  // namespace fanline::feedctl
