// Table recount: counters that are known to be wrong, on the shard of their user. A mark is made in
// the transaction that finds one below zero (also by change_edge.sql) and taken away in the one
// that repairs it, each after the counter's row: so everybody locks in one order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/mysql/sql/connection.h"
#include "fanline/ports/counter_store.h"

namespace fanline::mysql {

void MarkForRecount(Connection& connection, Counter counter, std::span<const UserId> users);
std::vector<UserCounter> MarkedForRecount(Connection& connection, uint32_t limit);
void Unmark(Connection& connection, const UserCounter& counter);

}  // namespace fanline::mysql
