#include "backends/mysql/repairs/counter_store.h"

#include <algorithm>
#include <chrono>

#include "backends/mysql/edges/recounts.h"
#include "backends/mysql/repairs/counter_repair.h"
#include "backends/mysql/repairs/counter_sweep.h"
#include "backends/mysql/repairs/repair_log.h"

namespace fanline::mysql {

Config CounterService::Tuned(Config config) {
  config.read_timeout = std::max(config.read_timeout, std::chrono::seconds(60));
  return config;
}

MarkedRead CounterService::Do(Connection& connection, const ReadMarked& request) {
  return {.status = {}, .counters = MarkedForRecount(connection, request.limit)};
}

CounterRepaired CounterService::Do(Connection& connection, const RepairCounter& request) {
  const CounterFound found = RepairOne(connection, request.counter);
  return {.status = {}, .drift = found.drift(), .repaired = found.repaired};
}

CountersSwept CounterService::Do(Connection& connection, const SweepCounters& request) {
  return SweepPage(connection, map, request.every);
}

RepairsPurged CounterService::Do(Connection& connection, const PurgeRepairs& request) {
  return {.status = {}, .deleted = PurgeRepairLog(connection, request.keep, request.most)};
}

}  // namespace fanline::mysql
