#include "backends/mysql/binlog/binlog_decoder.h"

#include <algorithm>

#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {
namespace {

constexpr std::string_view kTable = "log1";

// Of events.
constexpr uint64_t kRotate = 4, kFormat = 15, kMap = 19, kInsertedV1 = 23, kInserted = 30;
constexpr uint64_t kPayload = 40;                               // MySQL: a compressed transaction
constexpr uint64_t kPackedInsertV1 = 166, kPackedInsert = 169;  // MariaDB

// Bytes before what is an event's own: of all, of a map and of rows, of rows of the second version.
constexpr uint64_t kHeader = 19, kOwnHeader = 8, kOwnHeaderV2 = 10;
constexpr size_t kChecksum = 4;
constexpr uint64_t kCrc32 = 1;
constexpr uint64_t kMostColumns = 4'096;  // of the servers

constexpr const char* kCutShort = "is cut short";

// Of columns.
constexpr uint64_t kTiny = 1, kShort = 2, kLong = 3, kLongLong = 8, kInt24 = 9;
constexpr uint64_t kTimestamp2 = 17, kDateTime2 = 18;

// Bytes of a value, and of its type's description. None: log1 has no such column.
struct Width {
  uint8_t value = 0, described = 0;
};
std::optional<Width> WidthOf(uint64_t type, uint64_t description) {
  const auto fraction = static_cast<uint8_t>((description + 1) / 2);  // of seconds
  switch (type) {
    case kTiny:
      return Width{1, 0};
    case kShort:
      return Width{2, 0};
    case kInt24:
      return Width{3, 0};
    case kLong:
      return Width{4, 0};
    case kLongLong:
      return Width{8, 0};
    case kTimestamp2:
    case kDateTime2:
      if (description > 6) return std::nullopt;
      return Width{static_cast<uint8_t>((type == kDateTime2 ? 5 : 4) + fraction), 1};
    default:
      return std::nullopt;
  }
}

bool HasBit(std::string_view bits, size_t at) {
  return ((static_cast<unsigned char>(bits[at / 8]) >> (at % 8)) & 1) != 0;
}

}  // namespace

// What is left of an event. After it was asked for more than there is, it is not whole, and all it
// returns is empty.
class BinlogDecoder::Bytes {
 public:
  explicit Bytes(std::string_view bytes) : rest_(bytes) {}

  bool whole() const { return whole_; }
  bool done() const { return rest_.empty() || !whole_; }
  size_t size() const { return rest_.size(); }

  std::string_view Take(uint64_t count) {
    if (count > rest_.size()) whole_ = false;
    if (!whole_) return {};
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  // A number of `count` bytes, at most 8, the lowest first.
  uint64_t Number(uint64_t count) {
    uint64_t number = 0;
    const std::string_view bytes = Take(count);
    for (size_t at = bytes.size(); at > 0; --at) {
      number = number << 8 | static_cast<unsigned char>(bytes[at - 1]);
    }
    return number;
  }
  // A number that says by its first byte how long it is.
  uint64_t Packed() {
    const uint64_t first = Number(1);
    if (first < 251) return first;
    if (first == 251 || first == 255) whole_ = false;
    return Number(first == 252 ? 2 : first == 253 ? 3 : 8);
  }
  void CutEnd(size_t count) {
    if (count > rest_.size()) whole_ = false;
    if (whole_) rest_.remove_suffix(count);
  }

 private:
  std::string_view rest_;
  bool whole_ = true;
};

std::string BinlogDecoder::Read(std::string_view event, std::vector<uint64_t>& ids) {
  Bytes bytes(event);
  bytes.Take(4);  // when
  const uint64_t type = bytes.Number(1);
  bytes.Take(4);  // by whom
  const uint64_t length = bytes.Number(4);
  bytes.Take(6);  // where the next one is, and flags
  const auto named = [type](const std::string& why) {
    return why.empty() ? "" : Sql("an event of type ", type, " ", why);
  };
  if (!bytes.whole()) return named(kCutShort);
  if (type == kPayload) {
    return "a transaction is compressed; SET GLOBAL binlog_transaction_compression = OFF";
  }
  if (type == kRotate) table_.reset();  // numbers of tables are a server's until it ends
  const bool rows = type == kInsertedV1 || type == kInserted;
  const bool packed = type == kPackedInsertV1 || type == kPackedInsert;
  if (type != kFormat && type != kMap && !rows && !packed) return "";
  if (length != event.size()) return named(kCutShort);
  if (type == kFormat) return named(ReadFormat(bytes));
  if (checksums_) bytes.CutEnd(kChecksum);
  if (type == kMap) return named(ReadMap(bytes));
  if (packed) {
    const bool ours = table_ && bytes.Number(6) == table_->id;
    return ours ? "rows of log1 are compressed; SET GLOBAL log_bin_compress = OFF" : "";
  }
  return named(ReadRows(bytes, type == kInserted, ids));
}

std::string BinlogDecoder::ReadFormat(Bytes body) {
  table_.reset();
  body.Take(2 + 50 + 4);  // version of the format, the server's, when it began
  const uint64_t header = body.Number(1);
  if (body.size() < 1 + kChecksum) return kCutShort;
  const std::string_view lengths = body.Take(body.size() - 1 - kChecksum);  // by type, from 1 on
  checksums_ = body.Number(1) == kCrc32;
  const auto is = [lengths](uint64_t type, uint64_t length) {
    return lengths.size() >= type && static_cast<unsigned char>(lengths[type - 1]) == length;
  };
  // MySQL 9 has no rows of the first version any more.
  const bool known = header == kHeader && is(kMap, kOwnHeader) && is(kInserted, kOwnHeaderV2) &&
                     (is(kInsertedV1, kOwnHeader) || is(kInsertedV1, 0));
  return known ? "" : "describes a format that nobody here knows";
}

std::string BinlogDecoder::ReadMap(Bytes body) {
  Table table{body.Number(6), {}};
  body.Take(2);  // flags
  const std::string_view database = body.Take(body.Number(1));
  body.Take(1);
  const std::string_view name = body.Take(body.Number(1));
  body.Take(1);
  if (!body.whole()) return kCutShort;
  if (table_ && table_->id == table.id) table_.reset();
  if (database != database_ || name != kTable) return "";
  table_.reset();
  const uint64_t columns = body.Packed();
  if (columns > kMostColumns) return "maps too many columns";
  const std::string_view types = body.Take(columns);
  Bytes descriptions(body.Take(body.Packed()));
  if (!body.whole() || types.empty()) return kCutShort;
  for (const char each : types) {
    const auto type = static_cast<unsigned char>(each);
    Bytes ahead = descriptions;
    const auto width = WidthOf(type, ahead.Number(1));
    if (!width) {
      return Sql("has log1 with a column of type ", uint64_t{type}, ", which nobody here knows");
    }
    descriptions.Take(width->described);
    if (!descriptions.whole()) return kCutShort;
    table.widths.push_back(width->value);
  }
  if (static_cast<unsigned char>(types[0]) != kLongLong) return "has log1 without an id in front";
  table_ = std::move(table);
  return "";
}

// An event of rows names the columns that its rows have, all the same. A row begins with a bit for
// each of these: whether it is NULL, and has no value.
std::string BinlogDecoder::ReadRows(Bytes body, bool second_version,
                                    std::vector<uint64_t>& ids) const {
  const uint64_t id = body.Number(6);
  if (!body.whole()) return kCutShort;
  if (!table_ || table_->id != id) return "";
  body.Take(2);  // flags
  if (second_version) {
    const uint64_t more = body.Number(2);  // with these two
    if (more < 2) return kCutShort;
    body.Take(more - 2);
  }
  const std::vector<uint8_t>& widths = table_->widths;
  if (body.Packed() != widths.size()) return "has other columns than the map of log1";
  const std::string_view here = body.Take((widths.size() + 7) / 8);
  if (!body.whole()) return kCutShort;
  if (!HasBit(here, 0)) return "inserts into log1 without ids";
  size_t present = 0;
  for (size_t column = 0; column < widths.size(); ++column) present += HasBit(here, column);
  while (!body.done()) {
    const std::string_view nulls = body.Take((present + 7) / 8);
    if (!body.whole()) break;
    if (HasBit(nulls, 0)) return "inserts into log1 without an id";
    size_t nth = 0;
    for (size_t column = 0; column < widths.size(); ++column) {
      if (!HasBit(here, column)) continue;
      if (HasBit(nulls, nth++)) continue;
      const uint64_t value = body.Number(widths[column]);
      if (column == 0 && body.whole()) ids.push_back(value);
    }
  }
  return body.whole() ? "" : kCutShort;
}

}  // namespace fanline::mysql
