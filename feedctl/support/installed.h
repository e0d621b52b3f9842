// What every command that works on an installation asks first.
#pragma once

#include <string>

#include "backends/mysql/installation/installation.h"
#include "feedctl/support/settings.h"

namespace fanline::feedctl {

// What all shards agree on; Failure 78 when they do not, when there is none yet, or when an option
// says something else.
[[nodiscard]] mysql::Installation ReadInstalled(const Settings& settings);

// The topic is there; with so many partitions, unless 0. Never makes one. Failure 69 or 78.
void RequireTopic(const Settings& settings, const std::string& topic, uint32_t partitions = 0);

}  // namespace fanline::feedctl
