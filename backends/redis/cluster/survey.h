// Asks several nodes the same questions and returns each node's answers as they come. A node that
// hangs delays no other. Connections are kept for the next survey while their nodes answer.
// Some nodes are asked at once; the others wait in a row. The next in the row is asked when nobody
// has answered for kPatience, and after each answer, if the caller calls Next again.
// Blocking; one thread. The options' timeouts bound the wait for one node.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/redis/client/blocking_connection.h"

namespace fanline::redis {

class Survey {
 public:
  static constexpr Duration kPatience = std::chrono::milliseconds(50);
  // How long a caller with enough answers may wait for the rest. A node that takes longer hangs.
  static constexpr Duration kGrace = std::chrono::milliseconds(200);

  struct Answer {
    std::string error;  // text of an error reply, or empty
    std::string text;
    std::vector<std::string> items;  // of an array reply
  };
  struct Heard {
    Endpoint node;
    Status status;                // done: it answered all questions, perhaps with errors
    std::vector<Answer> answers;  // in the order of the questions
  };

  // `options_of` returns the options of a connection to a node. `questions` holds `count` commands.
  Survey(std::function<Options(const Endpoint&)> options_of, CommandBuffer questions, size_t count);

  void Begin(const std::vector<Endpoint>& at_once, std::vector<Endpoint> in_a_row);
  // Asks one more node, unless this survey asks it already.
  void Ask(const Endpoint& node);
  // Empties the row.
  void AskNoMore() { row_.clear(); }
  // The next node that has answered or failed. None: `until` has passed, or no node is left.
  std::optional<Heard> Next(Time until);
  // The nodes that were asked and have not answered.
  std::vector<Endpoint> Silent() const;
  // Ends the survey. Nodes that have not answered get a new connection next time.
  void End();

 private:
  struct Line {
    Line(Endpoint to, const Options& options);
    const Endpoint node;
    BlockingConnection connection;
    const BlockingConnection::OnReply take;  // into the answers
    std::vector<Answer> answers;
    bool kept = false;  // the connection is an earlier survey's; it may be closed by now
    bool asked = false;
    bool heard = false;
  };

  void Put(Line& line);
  void AskFromRow(Time now);
  std::optional<Heard> Look(Line& line, Time now);
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
