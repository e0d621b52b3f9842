// feedctl relations check: how a user stands to many, or who of many is followed by the user and
// follows another one. Answers in the order asked; an error stands in its item's place.
#include <cstdio>

#include "backends/mysql/edges/relation_checks.h"
#include "feedctl/commands/command.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"
#include "feedctl/support/line_reader.h"
#include "feedctl/support/text.h"
#include "feedctl/support/user_id.h"

namespace fanline::feedctl {
namespace {

constexpr const char* kStdin = "-";

class RelationsCheck : public Command {
 public:
  RelationsCheck(daemon::OptionTable& table, Settings& settings) : Command(settings) {
    table.AddPositional("user", &user_, "from whose side");
    table.AddPositional("other", &others_, "to whom, at most 500").Optional();
    table
        .Add("from", &from_,
             "where there is no other: a file with one per line, also gzipped; - is stdin")
        .Unit("FILE");
    table
        .Add("followed-who-follow", &followed_,
             "ask of each other whether they follow this user, not <user>")
        .Unit("ID");
    table.Add("json", &json_, "print the answers as one JSON object");
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt&) override {
    const UserId user = RequireUserId("<user>", user_);
    const UserId followed =
        followed_.empty() ? user : RequireUserId("--followed-who-follow", followed_);
    RequireUsage(others_.empty() || from_ == kStdin ? "" : "--from: not together with others");
    const std::vector<std::string> others = others_.empty() ? FromLines() : others_;
    RequireFew(others.size());
    std::vector<CheckAnswer> answers;
    Check(user, followed, others, &answers);
    json_ ? PrintJson(others, answers) : PrintText(others, answers);
    for (const CheckAnswer& answer : answers) {
      if (!answer.error.empty()) return kExitData;
    }
    return 0;
  }

 private:
  std::vector<std::string> FromLines() const {
    std::vector<std::string> others;
    LineReader lines(from_);
    std::string_view line;
    while (lines.Next(&line)) {
      if (!line.empty() && line.front() != '#') others.emplace_back(line);
      if (others.size() > mysql::RelationChecks::kMostItems) break;
    }
    return others;
  }

  void RequireFew(size_t count) const {
    constexpr size_t kMost = mysql::RelationChecks::kMostItems;
    if (count > 0 && count <= kMost) return;
    throw Failure(others_.empty() ? kExitData : kExitUsage,
                  count == 0 ? "nobody to ask about; give others, or one per line"
                             : "asked about more than " + std::to_string(kMost) +
                                   " users at once; ask in several calls");
  }

  void Check(UserId user, UserId followed, const std::vector<std::string>& others,
             std::vector<CheckAnswer>* answers) const {
    std::vector<CheckItem> items;
    for (const std::string& other : others) items.push_back({.user = ParseId(other).value_or(0)});
    const mysql::Installation installation = ReadInstalled(settings_);
    mysql::ShardConnections connections(options::ToConfig(settings_.mysql));
    mysql::RelationChecks checks(connections, installation.shard_map);
    Require(checks.Check(user, followed, items, Sides::kBoth, answers), settings_);
    for (size_t i = 0; i < items.size(); ++i) {
      CheckAnswer& answer = (*answers)[i];
      if (items[i].user == 0) answer.error = NoUserId(others[i]);
      if (items[i].user == Raw(user) || items[i].user == Raw(followed)) {
        answer.error = "a user has no relation to themselves";
      }
    }
  }

  void PrintText(const std::vector<std::string>& others,
                 const std::vector<CheckAnswer>& answers) const {
    for (size_t i = 0; i < others.size(); ++i) {
      const std::string name = ParseId(others[i]) ? others[i] : QuotedShort(others[i]);
      const std::string said =
          answers[i].error.empty() ? NameOf(answers[i].relation) : answers[i].error;
      std::printf("%s%s\n", Left(name, 22).c_str(), said.c_str());
    }
  }

  void PrintJson(const std::vector<std::string>& others,
                 const std::vector<CheckAnswer>& answers) const {
    Json json = {{"user", user_}};
    if (!followed_.empty()) json["followed_who_follow"] = followed_;
    Json& items = json["items"] = Json::array();
    for (size_t i = 0; i < others.size(); ++i) {
      const CheckAnswer& answer = answers[i];
      Json item = {{"id", others[i]}};
      if (answer.error.empty()) {
        item["relation"] = NameOf(answer.relation);
      } else {
        item["error"] = answer.error;
      }
      items.push_back(std::move(item));
    }
    PutJson(json);
  }

  std::string user_;
  std::vector<std::string> others_;
  std::string from_ = kStdin;
  std::string followed_;
  bool json_ = false;
};

}  // namespace

extern const Row kRelationsCheck =
    RowOf<RelationsCheck>("relations check", "says how a user stands to up to 500 others");

}  // namespace fanline::feedctl
