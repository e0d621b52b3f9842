// Reads the dead letters of Kafka's topics. Which of them were replayed is told by marks that stand
// behind them in the same partition, so each partition is read twice: for the marks, then for the
// letters. `newest` of the selection bounds both: marks are newer records than their letters, so it
// leaves out none of a letter that it takes. Memory: a number per mark. Failures name the service
// and what to do.
#pragma once

#include <functional>

#include "feedctl/dead_letters/selection.h"
#include "feedctl/support/settings.h"

namespace fanline::feedctl {

// Hands over the letters that the selection takes and that stand there when it begins, partition by
// partition, in their order. `take` answers whether to go on. Failure 78 when a topic is missing.
// Answers whether the selection's `newest` left nothing out.
bool ForEachLetter(const Settings& settings, const Selection& selection,
                   const std::function<bool(Letter)>& take);

}  // namespace fanline::feedctl
