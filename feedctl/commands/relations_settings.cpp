// feedctl relations mode: shows or sets whether the API also writes the reverse row at once.
// feedctl relations reconciler: shows or sets whether reconcilers repair what they find. All
// daemons apply a change within about a second.
#include <algorithm>
#include <cstdio>

#include "backends/mysql/installation/settings.h"
#include "backends/mysql/sql/shard_connections.h"
#include "feedctl/commands/command.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"

namespace fanline::feedctl {
namespace {

// One setting: how it is read and written, and the names of its modes.
template <auto Get, auto Set, const auto& kModes>
class RelationsSetting : public Command {
 public:
  RelationsSetting(daemon::OptionTable& table, Settings& settings) : Command(settings, table) {
    std::vector<std::string> texts{""};
    std::string help;
    for (const char* const mode : kModes) {
      texts.emplace_back(mode);
      help += std::string(mode) + " or ";
    }
    table.AddPositional("mode", &mode_, help + "none: show the present mode")
        .OneOf(texts)
        .Optional();
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt&) override {
    (void)ReadInstalled(settings_);
    const mysql::Config config = options::ToConfig(settings_.mysql);
    mysql::ShardConnections connections(config);
    std::string before, now;
    const auto call = [&](mysql::Connection& connection) {
      const auto mode = Get(connection);
      before = now = NameOf(mode);
      const auto wanted = std::find(kModes.begin(), kModes.end(), mode_);
      if (wanted == kModes.end()) return;
      now = mode_;
      Set(connection, static_cast<decltype(mode)>(wanted - kModes.begin()));
    };
    Require(connections.Run(mysql::kSettingsShard, call), settings_);
    Report(before, now);
    return 0;
  }

 private:
  void Report(const std::string& before, const std::string& now) const {
    if (json_) {
      PutJson({{"mode", now}, {"before", before}});
    } else if (before == now) {
      std::printf("%s\n", now.c_str());
    } else {
      std::printf("%s, was %s\n", now.c_str(), before.c_str());
    }
  }

  std::string mode_;
};

}  // namespace

extern const Row kRelationsMode = RowOf<
    RelationsSetting<mysql::GetMirrorMode, mysql::SetMirrorMode, kMirrorModes>>(
    "relations mode",
    "shows or sets how reverse rows are written: by mirrors that poll (async) or are told by the "
    "servers' binary logs (log: see doctor), or by the API as well (sync)");
extern const Row kRelationsReconciler =
    RowOf<RelationsSetting<mysql::GetReconcilerMode, mysql::SetReconcilerMode, kReconcilerModes>>(
        "relations reconciler", "shows or sets whether differing rows are repaired");

}  // namespace fanline::feedctl
