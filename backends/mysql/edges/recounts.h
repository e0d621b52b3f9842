// Table recount: counters that are known to be wrong, on the shard of their user. The transaction
// that finds one below zero marks it (change_edge.sql, too), the sweep marks drifted ones, and the
// transaction that repairs one takes its mark away. The transactions lock the counter's row first,
// so everybody locks in one order.
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
