// feedctl author mode: shows or sets how new posts of an author reach timelines, or leaves that to
// the dispatchers. A change takes effect with the author's next event.
#include <cstdio>

#include "backends/mysql/posts/author_modes.h"
#include "feedctl/commands/command.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"

namespace fanline::feedctl {
namespace {

constexpr const char* kPush = "push";
constexpr const char* kPull = "pull";
constexpr const char* kAuto = "auto";

class AuthorModeCommand : public Command {
 public:
  AuthorModeCommand(daemon::OptionTable& table, Settings& settings) : Command(settings, table) {
    table.AddPositional("author", &author_, "whose posts");
    table
        .AddPositional("mode", &mode_,
                       "push or pull; auto: as dispatchers decide; none: show the present mode")
        .OneOf({"", kPush, kPull, kAuto})
        .Optional();
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt&) override {
    const UserId author = RequireUserId("<author>", author_);
    const mysql::Installation installation = ReadInstalled(settings_);
    mysql::ShardConnections connections(options::ToConfig(settings_.mysql));
    AuthorMode before, now;
    const Shard shard = installation.shard_map.ShardOf(author);
    Require(connections.Run(shard,
                            [&](mysql::Connection& connection) {
                              before = mysql::ReadAuthorMode(connection, author);
                              if (mode_ == kAuto) {
                                mysql::LeaveAuthorMode(connection, author);
                              } else if (!mode_.empty()) {
                                mysql::SetAuthorMode(connection, author, mode_ == kPull);
                              }
                              now = mysql::ReadAuthorMode(connection, author);
                            }),
            settings_);
    Report(before, now);
    return 0;
  }

 private:
  static const char* NameOf(const AuthorMode& mode) { return mode.pull ? kPull : kPush; }
  static const char* SetBy(const AuthorMode& mode) { return mode.by_hand ? "hand" : kAuto; }

  void Report(const AuthorMode& before, const AuthorMode& now) const {
    if (json_) {
      const AuthorWeight& weight = now.weight;
      const bool weighed = weight.age < std::chrono::hours(24 * 365);
      PutJson({{"author", author_},
               {"mode", NameOf(now)},
               {"before", NameOf(before)},
               {"set_by", SetBy(now)},
               {"marked", now.marked},
               {"announced", now.announced.has_value()},
               {"live_followers", weighed ? Json(weight.live) : Json()},
               {"lag_ms", weighed ? Json(Milliseconds(weight.lag)) : Json()},
               {"weighed_ms_ago", weighed ? Json(Milliseconds(weight.age)) : Json()}});
    } else if (before.pull == now.pull && before.by_hand == now.by_hand) {
      std::printf("%s (%s)\n", NameOf(now), SetBy(now));
    } else {
      std::printf("%s (%s), was %s (%s)\n", NameOf(now), SetBy(now), NameOf(before), SetBy(before));
    }
  }

  std::string author_, mode_;
};

}  // namespace

extern const Row kAuthorMode = RowOf<AuthorModeCommand>(
    "author mode", "shows or sets whether an author's new posts are pushed, or merged at read");

}  // namespace fanline::feedctl
