// Rows of log1 whose hints are under way, until the rows may be marked done. One whose hint was not
// acknowledged stays pending, for a relay. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "backends/mysql/relations.h"
#include "fanline/outcome.h"

namespace fanline::feedctl {

class LogMarks {
 public:
  // The hint `id` is about to be sent for `row`.
  void Sent(uint64_t id, const mysql::LoggedRow& row);
  // What became of hint `id`; there may be no row for it.
  void Answer(uint64_t id, const Status& status);

  // Rows that may be marked, each handed out once; none when there are fewer than `at_least`.
  [[nodiscard]] std::vector<mysql::LoggedRow> Take(size_t at_least);

 private:
  std::mutex mutex_;
  std::map<uint64_t, mysql::LoggedRow> under_way_;  // both under mutex_
  std::vector<mysql::LoggedRow> acknowledged_;
};

}  // namespace fanline::feedctl
