// What commands check first when they work on an installation.
#pragma once

#include <string>

#include "backends/mysql/installation/installation.h"
#include "feedctl/support/settings.h"

namespace fanline::feedctl {

// The installation that all shards agree on. Failure 78 when they disagree, or when there is none
// yet.
[[nodiscard]] mysql::Installation ReadInstalled(const Settings& settings);

// From now on the settings name the installation's topics.
void UseTopicsOf(const mysql::Installation& installation, Settings& settings);

// How to reach the installation's timelines. Failure 78 when Redis holds another installation's.
[[nodiscard]] redis::Options RequireRedis(const Settings& settings,
                                          const mysql::Installation& installation);

// The number of the topic's partitions. Never creates a topic. Failure 69 or 78 unless the topic
// exists and has `partitions` partitions (0: any number).
int32_t RequireTopic(const Settings& settings, const std::string& topic, uint32_t partitions = 0);

}  // namespace fanline::feedctl
