// feedctl dlq list: what was set aside, newest first. Letters that are named are shown in full.
#include <cstdio>
#include <map>
#include <utility>

#include "feedctl/commands/command.h"
#include "feedctl/dead_letters/letter_log.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

class DlqList : public Command {
 public:
  DlqList(daemon::OptionTable& table, Settings& settings)
      : Command(settings, table), options_(table, settings) {
    table.Add("limit", &limit_, "letters to show, the newest").Range(0, 10'000);
    options::AddOptions(table, settings.topics);
    options::AddOptions(table, settings.kafka);
  }

  int Run(Interrupt&) override {
    const auto missing =
        ForEachLetter(settings_, options_.Selected(), [this](const Letter& letter) {
          Take(letter);
          return true;
        });
    json_ ? PrintJson() : PrintText();
    RequireFound(missing);
    return 0;
  }

 private:
  void Take(const Letter& letter) {
    ++found_;
    if (!letter.replayed) ++waiting_;
    const bool in_full = options_.named();
    newest_.emplace(letter.set_aside,
                    json_ ? ToJson(letter, in_full) : Json(ToText(letter, in_full)));
    if (newest_.size() > limit_) newest_.erase(newest_.begin());
  }

  void PrintText() const {
    for (auto at = newest_.rbegin(); at != newest_.rend(); ++at) {
      std::fputs(at->second.get_ref<const std::string&>().c_str(), stdout);
    }
    std::printf("%s, %s of them not replayed%s\n", Counted(found_, "dead letter").c_str(),
                Grouped(waiting_).c_str(), found_ > newest_.size() ? "; --limit shows more" : "");
  }

  void PrintJson() {
    Json letters = Json::array();
    for (auto at = newest_.rbegin(); at != newest_.rend(); ++at) {
      letters.push_back(std::move(at->second));
    }
    PutJson({{"found", found_}, {"waiting", waiting_}, {"letters", std::move(letters)}});
  }

  LetterOptions options_;
  uint32_t limit_ = 50;
  uint64_t found_ = 0;
  uint64_t waiting_ = 0;  // of these, not replayed
  // As they are shown, without their records, which may be large; by when they were set aside. A
  // text is kept as a JSON string.
  std::multimap<UnixMs, Json> newest_;
};

}  // namespace

extern const Row kDlqList = RowOf<DlqList>(
    "dlq list", "shows what could not be processed, newest first; in full what is named");

}  // namespace fanline::feedctl
