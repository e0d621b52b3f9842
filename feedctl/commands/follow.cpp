// feedctl follow: makes a user follow another, as the API does, and chooses what that brings. A
// running mirror carries the change on.
#include <cstdio>

#include "backends/mysql/edges/forward_edges.h"
#include "fanline/base/mono_now.h"
#include "feedctl/commands/command.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

class Follow : public Command {
 public:
  Follow(daemon::OptionTable& table, Settings& settings) : Command(settings, table) {
    table.AddPositional("user", &user_, "who follows");
    table.AddPositional("other", &other_, "whom");
    table
        .Add("delivery", &delivery_,
             "what the follow brings; none given: as it is, and all of a new one")
        .OneOf({"", kDeliveries[0], kDeliveries[1], kDeliveries[2]});
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt&) override {
    const EdgeKey edge{RequireUserId("<user>", user_), RequireUserId("<other>", other_)};
    RequireUsage(edge.src == edge.dst ? "<other>: nobody follows themselves" : "");
    const mysql::Installation installation = ReadInstalled(settings_);
    Report(Make({.src = edge.src,
                 .dst = edge.dst,
                 .live = true,
                 .unix_us = static_cast<uint64_t>(SystemNow().unix_ms) * 1000,
                 .delivery = ParseDelivery(delivery_),
                 .also_follows = true},
                installation));
    return 0;
  }

 private:
  ForwardChanged Make(const EdgeChange& change, const mysql::Installation& installation) const {
    mysql::ShardConnections connections(options::ToConfig(settings_.mysql));
    const uint32_t most = installation.following_limit;
    ForwardChanged made;
    Require(connections.Run(installation.shard_map.ShardOf(change.src),
                            [&](mysql::Connection& connection) {
                              made = mysql::ChangeForward(connection, change, most);
                            }),
            settings_);
    if (const Status allowed = mysql::StatusOf(made, most); !allowed.done()) {
      throw Failure(made.again_in ? kExitTempFail : kExitData,
                    "user " + user_ + " " + allowed.message);
    }
    return made;
  }

  void Report(const ForwardChanged& made) const {
    const std::string version = std::to_string(made.edge.ver);
    if (json_) {
      PutJson({{"user", user_},
               {"other", other_},
               {"delivery", NameOf(made.edge.delivery)},
               {"changed", made.changed},
               {"version", version}});
      return;
    }
    std::printf("user %s follows user %s%s, version %s%s\n", user_.c_str(), other_.c_str(),
                DeliveryText(made.edge.delivery).c_str(), version.c_str(),
                made.changed ? "" : " already");
  }

  std::string user_, other_, delivery_;
};

}  // namespace

extern const Row kFollow =
    RowOf<Follow>("follow", "makes a user follow another, and chooses what that brings");

}  // namespace fanline::feedctl
