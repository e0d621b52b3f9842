#include "backends/mysql/binlog/binlog_end.h"

#include <map>
#include <sstream>

#include "backends/mysql/sql/errors.h"
#include "backends/mysql/sql/server.h"

namespace fanline::mysql {
namespace {

void Require(bool met, const char* what) {
  if (!met) throw MysqlError(0, what);
}

bool Names(const std::string& list, const std::string& database) {
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    if (name == database) return true;
  }
  return false;
}

}  // namespace

bool LogsDatabase(const std::string& database, const std::string& only,
                  const std::string& not_these) {
  return only.empty() ? !Names(not_these, database) : Names(only, database);
}

BinlogEnd EndOfBinlog(Connection& connection) {
  std::map<std::string, std::string> settings;
  connection.Query(
      "SHOW GLOBAL VARIABLES WHERE variable_name IN ('log_bin', 'binlog_format',"
      " 'log_bin_compress', 'binlog_transaction_compression', 'version')",
      [&](const Row& row) { settings[row.Text(1)] = row.Text(2); });
  Require(
      settings["log_bin"] == "ON",
      "the server keeps no binary log; set log_bin and start it anew (clouds: switch backups on)");
  Require(TellsEndOfBinlog(settings["version"]),
          "MySQL before 8.2 does not tell where its binary log ends by the statement that we use; "
          "upgrade it, or go back by feedctl relations mode async");
  // Our transactions are READ COMMITTED, of which a binary log in MIXED has the rows. A server that
  // does not know the setting keeps rows.
  Require(settings["binlog_format"] != "STATEMENT",
          "the binary log keeps statements, not rows; SET GLOBAL binlog_format = ROW");
  Require(settings["log_bin_compress"] != "ON",
          "the binary log is compressed; SET GLOBAL log_bin_compress = OFF");
  Require(settings["binlog_transaction_compression"] != "ON",
          "the binary log is compressed; SET GLOBAL binlog_transaction_compression = OFF");

  BinlogEnd end;
  std::string only;
  std::string not_these;
  connection.Query("SHOW /*M! MASTER STATUS */ /*!80200 BINARY LOG STATUS */", [&](const Row& row) {
    end.place = {row.Text(1), row.UInt64(2)};
    only = row.Text(3);
    not_these = row.Text(4);
  });
  Require(!end.place.file.empty(), "the server does not say where its binary log ends");
  connection.Query("SELECT DATABASE()", [&](const Row& row) { end.database = row.Text(1); });
  Require(LogsDatabase(end.database, only, not_these),
          "the server leaves this database out of its binary log; take it out of binlog_ignore_db,"
          " or name it in binlog_do_db, and start it anew");
  return end;
}

std::string WhyNoBell(Connection& connection) {
  try {
    (void)EndOfBinlog(connection);
  } catch (const MysqlError& error) {
    if (error.code() == kRightMissing) {
      return std::string("this account may not ask its binary log, nor may mirrors that use it; ") +
             kBinlogRights;
    }
    if (error.code() != 0 || !connection.is_open()) throw;
    return error.what();
  }
  return "";
}

}  // namespace fanline::mysql
