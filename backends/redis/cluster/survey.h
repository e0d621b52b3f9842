// Puts the same questions to several nodes at once, and hands over what each answers as it comes. A
// node that hangs delays nobody. Connections are kept for the next survey while their nodes answer.
//
// Some nodes are asked at once; the others wait in a row: the next of them is asked when nobody has
// said anything for kPatience, and whenever Next is called again, since its last answer was not
// enough then.
//
// Blocking; one thread. The options' timeouts bound what one node may take.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/redis/client/command_buffer.h"
#include "backends/redis/client/options.h"
#include "backends/redis/client/pipelined_connection.h"
#include "fanline/base/outcome.h"

namespace fanline::redis {

class Survey {
 public:
  static constexpr Duration kPatience = std::chrono::milliseconds(50);
  // How long a caller who has heard enough may wait for the rest: they answer within this, or hang.
  static constexpr Duration kGrace = std::chrono::milliseconds(200);

  struct Answer {
    std::string error;  // of an error reply; else empty
    std::string text;
    std::vector<std::string> items;  // of an array of texts
  };
  struct Heard {
    Endpoint node;
    Status status;                // done: it answered all questions, by errors maybe
    std::vector<Answer> answers;  // in the order of the questions
  };

  // `options_of` a connection to a node. `questions` are so many commands.
  Survey(std::function<Options(const Endpoint&)> options_of, CommandBuffer questions, size_t count);
  ~Survey();

  void Begin(const std::vector<Endpoint>& at_once, std::vector<Endpoint> in_a_row);
  // One more; ignored when this survey asks it already.
  void Ask(const Endpoint& node);
  // Who waits in the row is not needed any more.
  void AskNoMore() { row_.clear(); }
  // The next that has answered or failed. None: `until` has come, or all were heard.
  std::optional<Heard> Next(Time until);
  // All who were asked and not heard.
  std::vector<Endpoint> Silent() const;
  // Nobody else is waited for. Who has not answered is connected to anew next time.
  void End();

  static Time Now() { return std::chrono::time_point_cast<Duration>(Clock::now()); }

 private:
  struct Line {
    explicit Line(Options of) : options(std::move(of)) {}
    Options options;
    std::unique_ptr<PipelinedConnection> connection;
    bool kept = false;  // from an earlier survey: the node may have closed it
    bool asked = false;
    bool heard = false;
    std::string refused;  // by the node: why it lets us not in
    std::vector<Answer> answers;
  };

  void Put(Line& line);
  void AskFromRow(Time now);
  std::optional<Heard> Look(Line& line, Time now);
  Heard Fail(Line& line, std::string why, bool silent);
  void Wait(Time until) const;

  const std::function<Options(const Endpoint&)> options_of_;
  const CommandBuffer questions_;
  const size_t count_;
  std::map<std::string, std::unique_ptr<Line>> lines_;  // by address
  std::vector<Line*> asked_;                            // of this survey, in order
  std::deque<Endpoint> row_;
  Time next_in_row_{};
};

// The Status of an answer that is an error.
Status RefusedBy(const Survey::Answer& answer);

}  // namespace fanline::redis
