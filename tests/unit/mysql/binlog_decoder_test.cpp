// What real servers wrote of log1 (MariaDB 10.11.19, MySQL 9.7.4), and what no server should send.
#include "backends/mysql/binlog/binlog_decoder.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace fanline::mysql {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Ids = std::vector<uint64_t>;

// Events in hexadecimal digits. `row` inserts row 1; `rows` inserts rows 2 and 3, of which the
// third has the highest id of a user; row 1 is then changed and deleted. Full images with
// checksums, and minimal ones without.
struct Captured {
  const char *format, *map, *row, *rows, *update = "", *deletion = "";
};

const Captured kMariaDbFull = {
    // format
    "95f20d6b0f01000000fc000000000100000000040031302e31312e31392d4d6172696144422d302b646562313275"
    "312d6c6f6700000000000000000000000000000000000000000000000013380d000800120004040404120000e400"
    "041a08000000080808020000000a0a0a0000000000000a0a0a000000000000000000000000000000000000000000"
    "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "000000000000041304000d0808080a0a0a014d6e9949",
    // map
    "95f20d6b13010000003d00000033020000000012000000000001000766616e6c696e6500046c6f6731000a080108"
    "080801080112010103000024aa9900",
    // row
    "95f20d6b1701000000570000008a020000000012000000000001000aff0300fc0100000000000000010500000000"
    "000000070000000000000000401e18240a0600010068e5cf8b0100000099bb7d60c101fe00940fd605",
    // rows
    "95f20d6b17010000008c00000044040000000012000000000001000aff0300fc0200000000000000020500000000"
    "000000070000000000000001401e18240a0600000068e5cf8b0100000299bb7d60c1026c0000fc03000000000000"
    "0001feffffffffffffff090000000000000003000000000000000104000000000000000099bb7d60c1026c00e01f"
    "8c52",
    // update
    "95f20d6b18010000008e00000090050000000012000000000001000aff03ff0300fc010000000000000001050000"
    "0000000000070000000000000000401e18240a0600010068e5cf8b0100000099bb7d60c101fe0000fc0100000000"
    "000000010500000000000000070000000000000000401e18240a0600010068e5cf8b0100000099bb7d60c101fe01"
    "ea473442",
    // delete
    "95f20d6b1901000000570000009f060000000012000000000001000aff0300fc0100000000000000010500000000"
    "000000070000000000000000401e18240a0600010068e5cf8b0100000099bb7d60c101fe016d0da3b0",
};

const Captured kMariaDbMinimal = {
    // format
    "95f20d6b0f01000000fc000000000100000000040031302e31312e31392d4d6172696144422d302b646562313275"
    "312d6c6f6700000000000000000000000000000000000000000000000013380d000800120004040404120000e400"
    "041a08000000080808020000000a0a0a0000000000000a0a0a000000000000000000000000000000000000000000"
    "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "000000000000041304000d0808080a0a0a00db5e9e3e",
    // map
    "95f20d6b1301000000390000001f020000000018000000000001000766616e6c696e6500046c6f6731000a080108"
    "0808010801120101030000",
    // row
    "95f20d6b1701000000500000006f020000000018000000000001000a7f0100010000000000000001050000000000"
    "0000070000000000000000401e18240a0600010068e5cf8b01000099bb7d60c10988",
    // rows
    "95f20d6b17010000008600000013040000000018000000000001000aff0100fe0200000000000000020500000000"
    "000000070000000000000001401e18240a0600000068e5cf8b0100000299bb7d60c109e200fe0300000000000000"
    "01feffffffffffffff090000000000000003000000000000000104000000000000000099bb7d60c109e2",
};

const Captured kMySqlFull = {
    // format
    "96f20d6b0f010000007b0000007f00000000000400392e372e342d32000000000000000000000000000000000000"
    "000000000000000000000000000000000000000000000000000000000013000d0008000000000400040000006300"
    "041a08000000000000020000000a0a0a2a2a001234000a280000013959a70a",
    // map
    "96f20d6b130100000041000000b001000000006d000000000001000766616e6c696e6500046c6f6731000a080108"
    "08080108011201010300000102b800f2dca3bd",
    // row
    "96f20d6b1e01000000590000000902000000006d0000000000110002000affff0000010000000000000001050000"
    "0000000000070000000000000000401e18240a0600010068e5cf8b0100000099bb7d60c219be001f2ff903",
    // rows
    "96f20d6b1e010000008e000000a003000000006d0000000000110002000affff0000020000000000000002050000"
    "0000000000070000000000000001401e18240a0600000068e5cf8b0100000299bb7d60c219c80000000300000000"
    "00000001feffffffffffffff090000000000000003000000000000000104000000000000000099bb7d60c219c800"
    "64a21367",
    // update
    "96f20d6b1f01000000900000003605000000006d0000000000110002000affffffff000001000000000000000105"
    "00000000000000070000000000000000401e18240a0600010068e5cf8b0100000099bb7d60c219be000000010000"
    "0000000000010500000000000000070000000000000000401e18240a0600010068e5cf8b0100000099bb7d60c219"
    "be01b76a9ab6",
    // delete
    "96f20d6b2001000000590000008c06000000006d0000000000110002000affff0000010000000000000001050000"
    "0000000000070000000000000000401e18240a0600010068e5cf8b0100000099bb7d60c219be013672b06c",
};

const Captured kMySqlMinimal = {
    // format
    "96f20d6b0f010000007b0000007f00000000000400392e372e342d32000000000000000000000000000000000000"
    "000000000000000000000000000000000000000000000000000000000013000d0008000000000400040000006300"
    "041a08000000000000020000000a0a0a2a2a001234000a28000000af69a07d",
    // map
    "96f20d6b13010000003d000000a0010000000073000000000001000766616e6c696e6500046c6f6731000a080108"
    "08080108011201010300000102b800",
    // row
    "96f20d6b1e0100000052000000f20100000000730000000000110002000a7f010001000000000000000105000000"
    "00000000070000000000000000401e18240a0600010068e5cf8b01000099bb7d60c21cac",
    // rows
    "96f20d6b1e0100000088000000730300000000730000000000110002000aff010000020000000000000002050000"
    "0000000000070000000000000001401e18240a0600000068e5cf8b0100000299bb7d60c21cb60000030000000000"
    "000001feffffffffffffff090000000000000003000000000000000104000000000000000099bb7d60c21cb6",
};

std::string Bytes(const std::string& digits) {
  std::string bytes;
  for (size_t at = 0; at < digits.size(); at += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(at, 2), nullptr, 16));
  }
  return bytes;
}

void SetLength(std::string& event, uint32_t length) {
  for (int byte = 0; byte < 4; ++byte) {
    event[static_cast<size_t>(9 + byte)] = static_cast<char>(length >> (8 * byte));
  }
}

// `event` with bytes replaced from `at` on, and with its length as it is then.
std::string With(std::string event, size_t at, const std::string& digits, size_t replaced) {
  event.replace(at, replaced, Bytes(digits));
  SetLength(event, static_cast<uint32_t>(event.size()));
  return event;
}

struct Read {
  // Returns the event's ids.
  Ids Take(const std::string& event) {
    Ids ids;
    wrong = decoder.Read(event, ids);
    return ids;
  }
  Ids Hex(const char* digits) { return Take(Bytes(digits)); }
  void Begin(const Captured& from) {
    EXPECT_THAT(Hex(from.format), IsEmpty());
    EXPECT_EQ(wrong, "");
    EXPECT_THAT(Hex(from.map), IsEmpty());
    EXPECT_EQ(wrong, "");
  }

  BinlogDecoder decoder{"fanline"};
  std::string wrong;
};

class EachServer : public ::testing::TestWithParam<const Captured*> {};
INSTANTIATE_TEST_SUITE_P(BinlogDecoder, EachServer,
                         ::testing::Values(&kMariaDbFull, &kMariaDbMinimal, &kMySqlFull,
                                           &kMySqlMinimal));

TEST_P(EachServer, TellsOfInsertedRows) {
  Read read;
  read.Begin(*GetParam());
  EXPECT_THAT(read.Hex(GetParam()->row), ElementsAre(1));
  EXPECT_EQ(read.wrong, "");
  EXPECT_THAT(read.Hex(GetParam()->rows), ElementsAre(2, 3));
  EXPECT_EQ(read.wrong, "");
}

TEST_P(EachServer, AnEventThatIsCutShortAnywhereIsSaidToBe) {
  for (const char* const digits : {GetParam()->format, GetParam()->map, GetParam()->rows}) {
    const std::string whole = Bytes(digits);
    for (size_t length = 0; length < whole.size(); ++length) {
      Read read;
      if (digits != GetParam()->format) read.Hex(GetParam()->format);
      if (digits == GetParam()->rows) read.Hex(GetParam()->map);
      std::string event = whole.substr(0, length);
      read.Take(event);
      EXPECT_THAT(read.wrong, HasSubstr("cut short")) << length;
    }
  }
}

// The length in the header agrees with what came.
TEST_P(EachServer, RowsThatEndEarlyAreCutShort) {
  const std::string whole = Bytes(GetParam()->rows);
  size_t whole_rows = 0;
  for (size_t length = 19; length < whole.size(); ++length) {
    Read read;
    read.Begin(*GetParam());
    std::string event = whole.substr(0, length);
    SetLength(event, static_cast<uint32_t>(length));
    EXPECT_LE(read.Take(event).size(), 2u);
    whole_rows += read.wrong.empty();
  }
  EXPECT_EQ(whole_rows, 2u) << "behind the header, and behind the first of the rows";
}

TEST_P(EachServer, ChangedAndDeletedRowsArePassedOver) {
  Read read;
  read.Begin(*GetParam());
  for (const char* const digits : {GetParam()->update, GetParam()->deletion}) {
    if (digits[0] == '\0') continue;
    EXPECT_THAT(read.Hex(digits), IsEmpty());
    EXPECT_EQ(read.wrong, "");
  }
}

TEST(BinlogDecoder, RowsOfOtherTablesArePassedOver) {
  Read read;
  read.Hex(kMariaDbFull.format);
  EXPECT_THAT(read.Hex(kMariaDbFull.row), IsEmpty()) << "no map";
  std::string map = Bytes(kMariaDbFull.map);
  read.Take(With(map, map.find("log1"), "6c6f6732", 4));
  EXPECT_THAT(read.Hex(kMariaDbFull.row), IsEmpty()) << "log2";
  read.Take(With(map, map.find("fanline"), "66616e6c696e61", 7));
  EXPECT_THAT(read.Hex(kMariaDbFull.row), IsEmpty()) << "another database";
  EXPECT_EQ(read.wrong, "");
  read.Take(map);
  EXPECT_THAT(read.Hex(kMariaDbFull.row), ElementsAre(1));
}

// As after ALTER TABLE, and as a server numbers tables anew after a start.
TEST(BinlogDecoder, TheNumberOfATableIsTheLastMaps) {
  Read read;
  read.Begin(kMariaDbFull);
  const std::string map = Bytes(kMariaDbFull.map);
  read.Take(With(map, map.find("log1"), "6c6f6732", 4));
  EXPECT_THAT(read.Hex(kMariaDbFull.row), IsEmpty()) << "another table has it";
  read.Begin(kMariaDbFull);
  read.Take(With(map, 19, "99", 1));
  EXPECT_THAT(read.Hex(kMariaDbFull.row), IsEmpty()) << "log1 has another";
  EXPECT_THAT(read.Take(With(Bytes(kMariaDbFull.row), 19, "99", 1)), ElementsAre(1));
  EXPECT_EQ(read.wrong, "");
}

TEST(BinlogDecoder, AnotherFileBeginsWithoutMaps) {
  Read read;
  read.Begin(kMariaDbFull);
  std::string rotate(27, '\0');
  rotate[4] = 4;
  read.Take(rotate);
  EXPECT_THAT(read.Hex(kMariaDbFull.row), IsEmpty());
  read.Begin(kMariaDbFull);
  read.Hex(kMariaDbFull.format);
  EXPECT_THAT(read.Hex(kMariaDbFull.row), IsEmpty());
  EXPECT_EQ(read.wrong, "");
}

TEST(BinlogDecoder, AColumnMayBeNullOrLack) {
  Read read;
  read.Begin(kMariaDbMinimal);
  // Behind the header, 8 bytes and the number of columns: 7f01, columns 0 to 6 and 8. NULLs: one
  // bit for each of these, so column 8 is bit 7.
  const std::string row = Bytes(kMariaDbMinimal.row);
  EXPECT_THAT(read.Take(With(row.substr(0, row.size() - 7), 30, "80", 1)), ElementsAre(1));
  EXPECT_EQ(read.wrong, "");
  EXPECT_THAT(read.Take(With(row.substr(0, 31) + row.substr(31, 8), 28, "0100fe", 3)),
              ElementsAre(1))
      << "the id alone";
  EXPECT_EQ(read.wrong, "");
}

TEST(BinlogDecoder, ARowWithoutAnIdIsRefused) {
  Read read;
  read.Begin(kMariaDbMinimal);
  const std::string row = Bytes(kMariaDbMinimal.row);
  read.Take(With(row, 28, "7e", 1));
  EXPECT_THAT(read.wrong, HasSubstr("without ids"));
  read.Take(With(row, 30, "01", 1));
  EXPECT_THAT(read.wrong, HasSubstr("without an id"));
}

TEST(BinlogDecoder, OtherColumnsThanTheMapsAreRefused) {
  Read read;
  read.Begin(kMariaDbMinimal);
  read.Take(With(Bytes(kMariaDbMinimal.row), 27, "09", 1));
  EXPECT_THAT(read.wrong, HasSubstr("other columns"));
}

TEST(BinlogDecoder, ATypeThatNobodyKnowsIsNamed) {
  Read read;
  read.Hex(kMariaDbMinimal.format);
  const std::string map = Bytes(kMariaDbMinimal.map);
  const size_t types = map.find("log1") + 6;
  read.Take(With(map, types + 3, "0f", 1));  // a text
  EXPECT_THAT(read.wrong, HasSubstr("a column of type 15"));
  read.Take(With(map, types, "03", 1));
  EXPECT_THAT(read.wrong, HasSubstr("without an id in front"));
  read.Take(With(map, types + 8, "12", 1));
  read.Take(With(map, types + 11, "07", 1));
  EXPECT_THAT(read.wrong, HasSubstr("a column of type 18")) << "no such fraction of seconds";
}

TEST(BinlogDecoder, AMapOfTooManyColumnsIsRefused) {
  Read read;
  read.Hex(kMariaDbMinimal.format);
  const std::string map = Bytes(kMariaDbMinimal.map);
  const size_t columns = map.find("log1") + 5;
  read.Take(With(map, columns, "feffffffffffffffff", 1));
  EXPECT_THAT(read.wrong, HasSubstr("too many columns"));
  read.Take(With(map, columns, "fc0010", 1));
  EXPECT_THAT(read.wrong, HasSubstr("cut short"));
  read.Take(With(map, columns, "00", 1));
  EXPECT_THAT(read.wrong, HasSubstr("cut short")) << "none";
}

TEST(BinlogDecoder, ALengthThatIsNotTheEventsIsRefused) {
  Read read;
  read.Begin(kMariaDbFull);
  std::string row = Bytes(kMariaDbFull.row);
  SetLength(row, UINT32_MAX);
  EXPECT_THAT(read.Take(row), IsEmpty());
  EXPECT_THAT(read.wrong, HasSubstr("cut short"));
}

TEST(BinlogDecoder, AFormatThatNobodyKnowsIsRefused) {
  for (const size_t type : {19, 23, 30}) {
    Read read;
    read.Take(With(Bytes(kMariaDbFull.format), 19 + 57 + type - 1, "07", 1));
    EXPECT_THAT(read.wrong, HasSubstr("a format that nobody here knows")) << type;
  }
}

TEST(BinlogDecoder, WhatIsCompressedIsRefusedByName) {
  Read read;
  read.Begin(kMariaDbFull);
  std::string event = Bytes(kMariaDbFull.row);
  event[4] = 40;
  read.Take(event);
  EXPECT_THAT(read.wrong, HasSubstr("binlog_transaction_compression"));
  for (const int type : {166, 169}) {
    event[4] = static_cast<char>(type);
    read.Take(event);
    EXPECT_THAT(read.wrong, HasSubstr("log_bin_compress"));
    read.Take(With(event, 19, "99", 1));
    EXPECT_EQ(read.wrong, "") << "another table's";
  }
}

TEST(BinlogDecoder, AllOtherTypesArePassedOver) {
  Read read;
  read.Begin(kMariaDbFull);
  for (int type = 0; type < 256; ++type) {
    if (type == 4 || type == 15 || type == 19 || type == 23 || type == 30 || type == 40 ||
        type == 166 || type == 169) {
      continue;
    }
    std::string event = Bytes(kMariaDbFull.row);
    event[4] = static_cast<char>(type);
    EXPECT_THAT(read.Take(event), IsEmpty());
    EXPECT_EQ(read.wrong, "") << type;
  }
  EXPECT_THAT(read.Hex(kMariaDbFull.row), ElementsAre(1)) << "and change nothing";
}

}  // namespace
}  // namespace fanline::mysql
