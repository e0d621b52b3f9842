// The topics of dead letters. They take nothing for a while, at times: who waits for that commits
// nothing beyond the record, and goes on with all others.
#pragma once

#include <set>
#include <string>

#include "fanline/ports/hint_log.h"
#include "tests/sim/members.h"

namespace fanline::sim {

// The value of the record is `taken` once the letter is in its topic.
template <typename Process>
void TakeLetter(Process& process, const AppendDeadLetter& request, ReplyTo<DeadLetterAppended> to,
                std::set<std::string>& taken) {
  World& world = process.world;
  const DeadLetterAppended done{request.id, {}};
  const auto take = [&world, &taken, request, done] {
    if (world.now.unix_ms < world.dead_letters.away_until) {
      world.Count(Letter::kLetterRefused);
      return DeadLetterAppended{request.id, Status::Later("kafka", "too few replicas in sync")};
    }
    taken.insert(request.letter.record.value);
    return done;
  };
  if (world.options.guards.letters_before_commit) {
    return process.Ask(to, "dead letter", done, take);
  }
  to(done);
  process.Ask({}, "dead letter", done, take);  // lost, if it is not taken
}

}  // namespace fanline::sim
