// What commands ask first when they work on an installation.
#pragma once

#include <string>

#include "backends/mysql/installation/installation.h"
#include "feedctl/support/settings.h"

namespace fanline::feedctl {

// The installation that all shards agree on. Failure 78 when they do not agree, when there is none
// yet, or when an option says something else.
[[nodiscard]] mysql::Installation ReadInstalled(const Settings& settings);

// How to reach the installation's timelines. Failure 78 when Redis holds those of another
// installation.
[[nodiscard]] redis::Options RequireRedis(const Settings& settings,
                                          const mysql::Installation& installation);

// The number of the topic's partitions. Never makes a topic. Failure 69 or 78 unless it exists,
// with so many partitions unless 0.
int32_t RequireTopic(const Settings& settings, const std::string& topic, uint32_t partitions = 0);

}  // namespace fanline::feedctl
