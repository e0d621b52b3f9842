// feedctl author mode: shows or sets how new posts of an author reach timelines. Dispatchers follow
// a change with the next event of the author.
#include <cstdio>

#include "backends/mysql/posts/author_modes.h"
#include "feedctl/commands/command.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"
#include "feedctl/support/user_id.h"

namespace fanline::feedctl {
namespace {

constexpr const char* kPush = "push";
constexpr const char* kPull = "pull";

class AuthorModeCommand : public Command {
 public:
  AuthorModeCommand(daemon::OptionTable& table, Settings& settings) : Command(settings) {
    table.AddPositional("author", &author_, "whose posts");
    table.AddPositional("mode", &mode_, "push or pull; none: show what holds")
        .OneOf({"", kPush, kPull})
        .Optional();
    table.Add("json", &json_, "print the result as one JSON object");
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt&) override {
    const UserId author = RequireUserId("<author>", author_);
    const mysql::Installation installation = ReadInstalled(settings_);
    mysql::ShardConnections connections(options::ToConfig(settings_.mysql));
    mysql::AuthorMode before, now;
    const Shard shard = installation.shard_map.ShardOf(author);
    Require(connections.Run(shard,
                            [&](mysql::Connection& connection) {
                              before = mysql::ReadAuthorMode(connection, author);
                              if (!mode_.empty()) {
                                mysql::SetAuthorMode(connection, author, mode_ == kPull);
                              }
                              now = mysql::ReadAuthorMode(connection, author);
                            }),
            settings_);
    Report(before, now);
    return 0;
  }

 private:
  static const char* NameOf(const mysql::AuthorMode& mode) { return mode.pull ? kPull : kPush; }

  void Report(const mysql::AuthorMode& before, const mysql::AuthorMode& now) const {
    if (json_) {
      PutJson({{"author", author_},
               {"mode", NameOf(now)},
               {"before", NameOf(before)},
               {"marked", now.marked},
               {"announced", now.announced}});
    } else if (before.pull == now.pull) {
      std::printf("%s\n", NameOf(now));
    } else {
      std::printf("%s, was %s\n", NameOf(now), NameOf(before));
    }
  }

  std::string author_, mode_;
  bool json_ = false;
};

}  // namespace

extern const Row kAuthorMode = RowOf<AuthorModeCommand>(
    "author mode", "shows or sets whether an author's new posts are pushed, or merged at read");

}  // namespace fanline::feedctl
