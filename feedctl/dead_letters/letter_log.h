// Reads the dead letters of Kafka's topics. A replayed letter has a mark after it in the same
// partition, so each partition is read twice: for the marks, then for the letters. Memory: a number
// per mark. Failures name the service and what to do.
#pragma once

#include <functional>
#include <vector>

#include "feedctl/dead_letters/selection.h"
#include "feedctl/support/settings.h"

namespace fanline::feedctl {

// Hands over the selected letters that exist when it begins, partition by partition, in order.
// `take` returns whether to go on. Returns the places of the selection that held none. Failure 78
// when a topic is missing.
std::vector<LetterPlaces> ForEachLetter(const Settings& settings, const Selection& selection,
                                        const std::function<bool(Letter)>& take);

}  // namespace fanline::feedctl
