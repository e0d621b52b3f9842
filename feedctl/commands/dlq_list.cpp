// feedctl dlq list: what was set aside, newest first.
#include <cstdio>
#include <map>
#include <utility>

#include "daemon/observe/log.h"
#include "feedctl/commands/command.h"
#include "feedctl/dead_letters/letter_log.h"
#include "feedctl/dead_letters/letter_options.h"
#include "feedctl/dead_letters/letter_text.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

// A letter without its record, which may be large.
struct Line {
  Letter letter;
  std::string summary;
};

// By the time at which they were set aside.
using Newest = std::multimap<UnixMs, Line>;

class DlqList : public Command {
 public:
  DlqList(daemon::OptionTable& table, Settings& settings)
      : Command(settings, table), options_(table, settings) {
    table.Add("limit", &limit_, "letters to show, the newest").Range(0, 10'000);
    options::AddOptions(table, settings.topics);
    options::AddOptions(table, settings.kafka);
  }

  int Run(Interrupt&) override {
    ForEachLetter(settings_, options_.Selected(), [this](Letter letter) {
      Take(std::move(letter));
      return true;
    });
    json_ ? PrintJson() : PrintText();
    return 0;
  }

 private:
  void Take(Letter letter) {
    ++found_;
    if (!letter.replayed) ++waiting_;
    std::string summary = Summary(letter);
    letter.record = {};
    newest_.emplace(letter.set_aside, Line{std::move(letter), std::move(summary)});
    if (newest_.size() > limit_) newest_.erase(newest_.begin());
  }

  void PrintText() const {
    for (auto at = newest_.rbegin(); at != newest_.rend(); ++at) {
      const auto& [letter, summary] = at->second;
      std::printf("%s%s  %s\n    %s\n    %s, at %s: %s\n", Left(ToString(letter.place), 26).c_str(),
                  daemon::Rfc3339(letter.set_aside).c_str(), StateOf(letter).c_str(),
                  summary.c_str(), letter.stage.c_str(), letter.origin.c_str(),
                  letter.reason.c_str());
    }
    std::printf("%s, %s of them not replayed%s\n", Counted(found_, "dead letter").c_str(),
                Grouped(waiting_).c_str(), found_ > newest_.size() ? "; --limit shows more" : "");
  }

  void PrintJson() const {
    Json letters = Json::array();
    for (auto at = newest_.rbegin(); at != newest_.rend(); ++at) {
      const auto& [letter, summary] = at->second;
      Json json = ToJson(letter);
      json["summary"] = summary;
      letters.push_back(std::move(json));
    }
    PutJson({{"found", found_}, {"waiting", waiting_}, {"letters", std::move(letters)}});
  }

  LetterOptions options_;
  uint32_t limit_ = 50;
  uint64_t found_ = 0;
  uint64_t waiting_ = 0;  // of these, not replayed
  Newest newest_;
};

}  // namespace

extern const Row kDlqList =
    RowOf<DlqList>("dlq list", "shows what could not be processed, newest first");

}  // namespace fanline::feedctl
