// feedctl init: does what feedctl migrate does on every shard, and writes the row that describes
// the installation.
#include <cstdio>

#include "backends/mysql/installation/installation.h"
#include "feedctl/commands/command.h"
#include "feedctl/support/explain.h"

namespace fanline::feedctl {
namespace {

class Init : public Command {
 public:
  Init(daemon::OptionTable& table, Settings& settings) : Command(settings) {
    table.Add(
        "ranges", &ranges_,
        "contiguous parts of the readers, each served by one pusher at a time: the partitions "
        "of the tasks topic; a power of 2 up to 1024. An event costs a hint of each that holds a "
        "follower: 4 serve a small installation that will not grow. Another number later drops "
        "every timeline: plan for four times the growth");
    table.Add("window", &window_.window, "items a live timeline keeps")
        .Range(1, 10'000)
        .Unit("ITEMS");
    table
        .Add("timeline-max-entries", &window_.max_entries,
             "members a timeline never exceeds; the server's zset-max-listpack-entries should not "
             "be lower, or a timeline takes 5 times the memory")
        .Range(1 + WindowLimits::kBeside, 20'000)
        .Unit("MEMBERS");
    table
        .Add("following-limit", &following_limit_,
             "a user follows at most so many, and within an hour changes a twelfth of it (at least "
             "400)")
        .Range(1, 1'000'000);
    table.Add("own-posts", &own_posts_, "home timelines hold the reader's own posts, too");
    table.Check([this] { return WindowProblem(); });
    options::AddOptions(table, settings.topics);
    options::AddOptions(table, settings.mysql);
    options::AddMigrationTimeout(table, settings.mysql);
  }

  int Run(Interrupt& interrupt) override {
    if (!RangeLayout::Divides(ranges_)) {
      throw Failure(kExitUsage, "--ranges: " + std::to_string(ranges_) +
                                    " does not divide 1024; choose a power of 2");
    }
    interrupt.Advise("run it again to finish it");
    const mysql::Config config = options::ToConfig(settings_.mysql);
    const mysql::Installation installation{
        .partitions = ranges_,
        .shard_map = ShardMap::Even(static_cast<uint32_t>(config.shards.size())),
        .generation = mysql::kAnyGeneration,
        .feed_topic = settings_.topics.feed,
        .tasks_topic = settings_.topics.tasks,
        .window = window_,
        .following_limit = following_limit_,
        .own_posts = own_posts_};
    Require(mysql::MakeTables(config), settings_);
    const Status created = mysql::CreateInstallation(config, installation);
    if (created.never()) {
      throw Failure(kExitConfig, "another installation is there: " + created.message +
                                     "; give the options it has, or empty databases; "
                                     "docs/feedctl.md says under init how to change one");
    }
    Require(created, settings_);
    std::printf("installed: shards %zu, ranges %u, topics %s and %s\n", config.shards.size(),
                ranges_, installation.feed_topic.c_str(), installation.tasks_topic.c_str());
    return 0;
  }

 private:
  std::string WindowProblem() const {
    if (window_.fits()) return {};
    return "--window: " + std::to_string(window_.window) + " does not fit --timeline-max-entries " +
           std::to_string(window_.max_entries) + ", which must be larger by at least " +
           std::to_string(WindowLimits::kBeside) +
           "; raise it, and the server's zset-max-listpack-entries with it";
  }

  uint32_t ranges_ = 16;
  WindowLimits window_;
  uint32_t following_limit_ = kMostFollowed;
  bool own_posts_ = false;
};

}  // namespace

extern const Row kInit =
    RowOf<Init>("init", "creates the tables on every shard and writes down the installation");

}  // namespace fanline::feedctl
