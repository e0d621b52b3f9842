// Table recount: the counters that are known to be wrong, on the shard of their user. A counter
// below zero is marked by the transaction that finds it (also in change_edge.sql), and a drifted
// one by the sweep. The transaction that repairs a counter removes its mark. All these transactions
// lock the counter's row first, so they lock in the same order.
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
