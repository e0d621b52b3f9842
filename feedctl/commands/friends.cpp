// feedctl friends: what one user does about the friendship with another. It changes the pair's row;
// the mirror writes the two edges that follow from it.
#include <cstdio>

#include "backends/mysql/edges/relation_store.h"
#include "daemon/clock.h"
#include "feedctl/commands/command.h"
#include "feedctl/relations/friendship_text.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"
#include "feedctl/support/text.h"
#include "feedctl/support/user_id.h"

namespace fanline::feedctl {
namespace {

uint64_t UnixUs() { return static_cast<uint64_t>(daemon::SystemNow().unix_ms) * 1000; }

class Friends : public Command {
 public:
  Friends(daemon::OptionTable& table, Settings& settings) : Command(settings) {
    std::vector<std::string> actions;
    for (const FriendAction action : kFriendActions) actions.emplace_back(NameOf(action));
    table.AddPositional("action", &action_, "what the user does").OneOf(actions);
    table.Add("user", &user_, "who does it").Unit("ID").Required();
    table.Add("other", &other_, "to the friendship with whom").Unit("ID").Required();
    table.Add("json", &json_, "print the result as one JSON object");
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt&) override {
    const UserId user = RequireUserId("--user", user_), other = RequireUserId("--other", other_);
    RequireUsage(user == other ? "--other: a friendship is between two users" : "");
    const mysql::Installation installation = ReadInstalled(settings_);
    mysql::MysqlRelationStore store(options::ToConfig(settings_.mysql), installation.shard_map,
                                    installation.following_limit, {});
    const FriendAction action = *ParseFriendAction(action_);
    FriendshipStep step;
    const Status status = store.ChangeFriendship(action, user, other, UnixUs(), &step);
    RequireLimits(status, step, user);
    if (status.never()) RequireAllowed(step.now, action, user, other);
    Require(status, settings_);
    json_ ? PrintJson(step) : PrintText(step, user, other);
    return 0;
  }

 private:
  static void RequireLimits(const Status& status, const FriendshipStep& step, UserId user) {
    if (step.over_limit) {
      throw Failure(kExitData, status.message +
                                   "; unfollow somebody first, or raise the "
                                   "installation's following_limit");
    }
    if (!step.again_in) return;
    throw Failure(kExitTempFail,
                  "user " + ToString(user) + " " + status.message + "; the next is possible in " +
                      Counted(static_cast<uint64_t>(step.again_in->count()), "second"));
  }

  // The rule, applied to what the store found, says why.
  static void RequireAllowed(const Friendship& now, FriendAction action, UserId user,
                             UserId other) {
    const char* refusal = Decide(now, action, user).refusal;
    if (refusal == nullptr) return;
    throw Failure(kExitData, std::string(refusal) + ": " + Standing(now, user, other) + "; " +
                                 NextSteps(now, user, other));
  }

  static void PrintText(const FriendshipStep& step, UserId user, UserId other) {
    std::printf("%s: %s, version %llu\n", Standing(step.now, user, other).c_str(),
                step.changed ? "changed" : "it was so already",
                static_cast<unsigned long long>(step.now.ver));
    if (step.now.state == FriendState::kFriends) {
      std::printf("a running fanline-mirror writes both edges\n");
    } else if (step.now.state == FriendState::kRemoved) {
      std::printf("a running fanline-mirror ends both edges\n");
    }
    std::printf("next: %s\n", NextSteps(step.now, user, other).c_str());
  }

  void PrintJson(const FriendshipStep& step) const {
    PutJson({{"user", user_},
             {"other", other_},
             {"state", NameOf(step.now.state)},
             {"version", std::to_string(step.now.ver)},
             {"asked_by", ToString(step.now.asked_by)},
             {"changed", step.changed}});
  }

  std::string action_;
  std::string user_;
  std::string other_;
  bool json_ = false;
};

}  // namespace

extern const Row kFriends =
    RowOf<Friends>("friends", "requests, accepts, refuses, cancels or removes a friendship");

}  // namespace fanline::feedctl
