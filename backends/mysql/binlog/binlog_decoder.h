// Finds the ids of rows that were inserted into log1 in the events of a server's binary log, of
// MariaDB and of MySQL.
//
// It reads the description of the format, the map of log1's columns, and rows inserted there. All
// other events are passed over, whatever their type. Which columns a row has is told by a bitmap:
// with binlog_row_image=MINIMAL those with default values may lack. The id never does.
//
// Nothing it says is believed: who is told an id asks the shard for that row (log_bell.h). So the
// checksum of an event is cut off and not compared. Every length is checked before it is used. An
// event costs no more memory than the ids that it holds.
//
// Passive, not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fanline::mysql {

class BinlogDecoder {
 public:
  // `database`: where log1 is, by the name that the server gives it.
  explicit BinlogDecoder(std::string database) : database_(std::move(database)) {}

  // Reads an event as the server sends it, from its header on, and appends the ids of rows that it
  // inserts into log1. Returns "", or why it cannot be read, for an operator. The ids of an event
  // that cannot be read may have been appended in part.
  [[nodiscard]] std::string Read(std::string_view event, std::vector<uint64_t>& ids);

 private:
  class Bytes;
  struct Table {
    uint64_t id = 0;
    std::vector<uint8_t> widths;  // by column: bytes of a value
  };

  std::string ReadFormat(Bytes body);
  std::string ReadMap(Bytes body);
  std::string ReadRows(Bytes body, bool second_version, std::vector<uint64_t>& ids) const;

  const std::string database_;
  bool checksums_ = false;      // each event ends with one
  std::optional<Table> table_;  // log1, since its last map
};

}  // namespace fanline::mysql
