// feedctl relations mode: shows or sets whether writers of relations also write the reverse row at
// once. All of them follow within about a second.
#include <cstdio>

#include "backends/mysql/settings.h"
#include "backends/mysql/shard_connections.h"
#include "daemon/json_fields.h"
#include "feedctl/commands.h"
#include "feedctl/explain.h"
#include "feedctl/installed.h"

namespace fanline::feedctl {
namespace {

class RelationsMode : public Command {
 public:
  RelationsMode(daemon::OptionTable& table, Settings& settings) : settings_(settings) {
    table.AddPositional("mode", &mode_, "sync or async; none: show what holds")
        .OneOf({"", NameOf(MirrorMode::kSync), NameOf(MirrorMode::kAsync)})
        .Optional();
    table.Add("json", &json_, "print the result as one JSON object");
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt&) override {
    (void)ReadInstalled(settings_);
    const mysql::Config config = options::ToConfig(settings_.mysql);
    mysql::ShardConnections connections(config);
    MirrorMode before{};
    const auto asked = ParseMirrorMode(mode_);
    Require(connections.Run(mysql::kSettingsShard,
                            [&](mysql::Connection& connection) {
                              before = mysql::GetMirrorMode(connection);
                              if (asked) mysql::SetMirrorMode(connection, *asked);
                            }),
            settings_);
    Report(before, asked.value_or(before));
    return 0;
  }

 private:
  void Report(MirrorMode before, MirrorMode now) const {
    if (json_) {
      const daemon::Field fields[] = {{"mode", NameOf(now)}, {"before", NameOf(before)}};
      std::printf("%s\n", daemon::JsonObject(fields).c_str());
    } else if (before == now) {
      std::printf("%s\n", NameOf(now));
    } else {
      std::printf("%s, was %s\n", NameOf(now), NameOf(before));
    }
  }

  Settings& settings_;
  std::string mode_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeRelationsMode(daemon::OptionTable& table, Settings& settings) {
  return std::make_unique<RelationsMode>(table, settings);
}

}  // namespace fanline::feedctl
