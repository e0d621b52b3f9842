// feedctl doctor: one screen about an installation, or about one reader. Reads only.
#include <cstdio>

#include "feedctl/commands/command.h"
#include "feedctl/doctor/ask.h"
#include "feedctl/doctor/reader.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"

namespace fanline::feedctl {
namespace {

void Append(Checks more, Checks* checks) {
  checks->insert(checks->end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
}

class Doctor : public Command {
 public:
  Doctor(daemon::OptionTable& table, Settings& settings) : Command(settings, table) {
    table.AddPositional("user", &user_, "everything about this one; none: the installation")
        .Optional();
    table.Add("dispatcher-group", &groups_.dispatcher, "the dispatchers' consumer group");
    table.Add("pusher-group", &groups_.pusher, "the pushers'");
    table.Add("mirror-group", &groups_.mirror, "the mirrors'");
    table.Add("reconciler-group", &groups_.reconciler, "the reconcilers'");
    options::AddRelationEventsTopic(table, settings.topics);
    options::AddOptions(table, settings.kafka);
    options::AddOptions(table, settings.redis);
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt&) override {
    const Checks checks = user_.empty() ? AskInstallation() : AskUser();
    if (json_) {
      PutJson(ToJson(checks, DocsFolder()));
    } else {
      std::fputs(ToText(checks, DocsFolder()).c_str(), stdout);
    }
    return ExitCodeOf(checks);
  }

 private:
  Checks AskInstallation() {
    std::vector<ShardFacts> shards;
    const auto installation = AskShards(settings_, &shards);
    const RedisFacts redis = AskRedis(settings_, installation);
    if (installation) UseTopicsOf(*installation, settings_);
    const KafkaFacts kafka = AskKafka(settings_, groups_);
    Checks checks = JudgeShards(shards);
    Append(JudgeRedis(redis), &checks);
    Append(JudgeRanges(installation, redis, kafka, shards), &checks);
    Append(JudgeLogs(kafka.logs), &checks);
    Append(JudgeLogScan(shards), &checks);
    Append(JudgeFullScan(shards), &checks);
    return checks;
  }

  Checks AskUser() {
    const UserId user = RequireUserId("<user>", user_);
    std::vector<ShardFacts> shards;
    const auto installation = AskShards(settings_, &shards);
    if (!installation) {
      Checks checks = JudgeShards(shards);
      checks.push_back(JudgeUnplaced(user, shards));
      return checks;
    }
    const ReaderFacts reader = AskReader(settings_, *installation, user, groups_.pusher);
    Checks checks;
    // What is wrong with Redis concerns each of its readers.
    if (!reader.redis_away) {
      Append(OfLevel(Level::kLook, JudgeRedis(AskRedis(settings_, installation))), &checks);
    }
    Append(JudgeReader(reader), &checks);
    return checks;
  }

  std::string user_;
  Groups groups_;
};

}  // namespace

extern const Row kDoctor =
    RowOf<Doctor>("doctor", "one screen about an installation's health, or about one reader");

}  // namespace fanline::feedctl
