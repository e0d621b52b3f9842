// feedctl init: the tables on every shard, and the row that says what the installation is.
#include <cstdio>

#include "backends/mysql/installation/installation.h"
#include "feedctl/commands/command.h"
#include "feedctl/support/explain.h"

namespace fanline::feedctl {
namespace {

class Init : public Command {
 public:
  Init(daemon::OptionTable& table, Settings& settings) : Command(settings) {
    table
        .Add("ranges", &ranges_,
             "contiguous parts of the readers, each served by one pusher at a time: the partitions "
             "of the tasks topic; divides 1024 and is fixed for the installation's life")
        .Range(1, kBuckets);
    options::AddWindow(table, &window_.window, &window_.max_entries);
    options::AddFollowingLimit(table, &following_limit_);
    table.Check([this] { return options::Problem(window_); });
    options::AddOptions(table, settings.topics);
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt& interrupt) override {
    if (!RangeLayout::Divides(ranges_)) {
      throw Failure(kExitUsage, "--ranges: " + std::to_string(ranges_) +
                                    " does not divide 1024; choose a power of 2");
    }
    interrupt.Advise("run it again to finish it");
    const mysql::Config config = options::ToConfig(settings_.mysql);
    mysql::Installation installation;
    installation.partitions = ranges_;
    installation.shard_map = ShardMap::Even(static_cast<uint32_t>(config.shards.size()));
    installation.feed_topic = settings_.topics.feed;
    installation.tasks_topic = settings_.topics.tasks;
    installation.window = window_;
    installation.following_limit = following_limit_;
    Require(mysql::ApplySchema(config), settings_);
    const Status created = mysql::CreateInstallation(config, installation);
    if (created.never()) {
      throw Failure(kExitConfig, "another installation is there: " + created.message +
                                     "; give the options it was created with, or empty databases");
    }
    Require(created, settings_);
    std::printf("installed: shards %zu, ranges %u, topics %s and %s\n", config.shards.size(),
                ranges_, installation.feed_topic.c_str(), installation.tasks_topic.c_str());
    return 0;
  }

 private:
  uint32_t ranges_ = 16;
  WindowLimits window_;
  uint32_t following_limit_ = kMostFollowed;
};

}  // namespace

extern const Row kInit =
    RowOf<Init>("init", "creates the tables on every shard and writes down the installation");

}  // namespace fanline::feedctl
