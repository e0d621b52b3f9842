#include "backends/mysql/sql/errors.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <string_view>

#include "backends/mysql/sql/config.h"

namespace fanline::mysql {
namespace {

// May mean that this program is newer than the tables and procedures.
constexpr int kNoSuchTable = 1146;
constexpr int kNoSuchColumn = 1054;
constexpr int kNoSuchProcedure = 1305;
constexpr int kOtherParameters = 1318;  // of a procedure
// If this table is missing, there is no installation yet: "Table 'feed.installation' doesn't
// exist".
constexpr std::string_view kFirstTable = ".installation'";

struct Entry {
  int code;
  ErrorKind kind;
  Cause cause = Cause::kOther;
  const char* advice = "";
};

constexpr const char* kAddress = "start it or set --mysql-shards / FANLINE_MYSQL_SHARDS";
constexpr const char* kLogin =
    "set --mysql-user / FANLINE_MYSQL_USER and --mysql-password-file (or --mysql-password); or "
    "--mysql-tls-ca (and -cert, -key), if the account asks for TLS";
constexpr const char* kHost = "let the account log in from this host (CREATE USER name@host)";
constexpr const char* kAccountLocked = "unlock the account (ALTER USER ... ACCOUNT UNLOCK)";
constexpr const char* kAccountBlocked =
    "set the right password first; then unblock the account (MySQL: ALTER USER ... ACCOUNT UNLOCK, "
    "MariaDB: FLUSH PRIVILEGES)";
constexpr const char* kSocketOnly =
    "the account may log in by the server's socket only: give it a password (ALTER USER ... "
    "IDENTIFIED BY), or name another by --mysql-user / FANLINE_MYSQL_USER";
constexpr const char* kAccountsPlugin =
    "give the account a plugin that the server has loaded (MySQL: ALTER USER ... IDENTIFIED WITH "
    "caching_sha2_password BY)";
constexpr const char* kPasswordExpired = "set a new password (ALTER USER ... IDENTIFIED BY)";
constexpr const char* kTooMany =
    "raise max_connections (or the account's limit), or lower fanline-api's --threads and "
    "--pull-threads";
constexpr const char* kPrimary =
    "name the primary (a cloud's writer endpoint) in --mysql-shards / FANLINE_MYSQL_SHARDS";
constexpr const char* kCertificates = "set --mysql-tls-ca to who signed its certificate";
constexpr const char* kNoTlsThere = "turn TLS on at the server, or leave --mysql-tls-ca out";
constexpr const char* kOtherName =
    "its certificate bears another name than --mysql-shards gives; those that MySQL makes by "
    "itself name no host";
constexpr const char* kLocalFiles =
    "SET GLOBAL local_infile = ON on every shard (clouds: the parameter group)";
constexpr const char* kBinlog =
    "SET GLOBAL binlog_format = ROW on every shard (clouds: the parameter group)";
constexpr const char* kPlugin =
    "install the client library's plugin that it names (Debian: package libmariadb3)";
constexpr const char* kDatabase = "create the database, or set --mysql-shards";
constexpr const char* kGrant =
    "create the database if it is not there, and give the account its rights on it (for feedctl "
    "init and migrate those of who makes the tables; docs/security.md), or set --mysql-shards";
constexpr const char* kRights =
    "give the account SELECT, INSERT, UPDATE, DELETE and EXECUTE on the database "
    "(docs/security.md)";
constexpr const char* kMakersRights =
    "give the account CREATE, ALTER, INDEX, CREATE ROUTINE and ALTER ROUTINE besides, or name one "
    "that has them by --mysql-user (docs/security.md)";
constexpr const char* kMaker =
    "name the account that made the tables by --mysql-user (docs/security.md)";

// "SELECT command denied to user ..."; of a procedure the command is in small letters.
constexpr int kTableDenied = 1142;
constexpr int kColumnDenied = 1143;
constexpr int kProcedureDenied = 1370;
constexpr std::string_view kOfPrograms[] = {"SELECT", "INSERT", "UPDATE", "DELETE", "execute"};

constexpr int kDeadlock = 1213;
constexpr int kTls = 2026;
// The client library adds these when the server has no TLS at all, and when its certificate is of
// another.
constexpr std::string_view kNoTls = "does not support it";
constexpr std::string_view kNotItsName = "Validation of SSL server certificate failed";

// clang-format off
constexpr Entry kTable[] = {
    {kDeadlock, ErrorKind::kDeadlock, Cause::kLocked},
    {3101, ErrorKind::kDeadlock, Cause::kLocked},  // MySQL: rolled back by Group Replication
    {1205, ErrorKind::kBusy, Cause::kLocked},  // lock wait timeout: the wait was long enough

    {kUnsupported, ErrorKind::kLost},
    {0, ErrorKind::kLost},         // the connector itself: closed connection, invalid state
    {2002, ErrorKind::kLost, Cause::kAway, kAddress},  // cannot connect through socket or TCP
    {2003, ErrorKind::kLost, Cause::kAway, kAddress},  // cannot connect to host
    {2005, ErrorKind::kLost, Cause::kAway, kAddress},  // unknown host
    {2006, ErrorKind::kLost, Cause::kAway, kAddress},  // server has gone away
    {2013, ErrorKind::kLost, Cause::kAway, kAddress},  // lost during query; also a read timeout
    {kTls, ErrorKind::kLost, Cause::kSetting, kCertificates},  // TLS
    {2055, ErrorKind::kLost, Cause::kAway, kAddress},  // lost, with the system's error
    {2059, ErrorKind::kLost, Cause::kSetting, kPlugin},  // no plugin for this kind of login
    {2061, ErrorKind::kLost, Cause::kSetting, kCertificates},  // this kind of login needs TLS
    {1040, ErrorKind::kLost, Cause::kOther, kTooMany},  // too many connections
    {1044, ErrorKind::kLost, Cause::kSetting, kGrant},  // access denied to the database
    {1045, ErrorKind::kLost, Cause::kSetting, kLogin},  // access denied
    {1047, ErrorKind::kLost},      // Galera: the node is not, or no longer, part of its cluster
    {1049, ErrorKind::kLost, Cause::kSetting, kDatabase},  // unknown database
    {1053, ErrorKind::kLost},      // server shutdown in progress
    {1129, ErrorKind::kLost},      // host blocked
    {1130, ErrorKind::kLost, Cause::kSetting, kHost},  // host not allowed
    {1152, ErrorKind::kLost},      // aborted connection
    {1153, ErrorKind::kLost},      // packet too large for the server, which then closes
    {1158, ErrorKind::kLost},      // network error, reading
    {1159, ErrorKind::kLost},      // timeout, reading
    {1160, ErrorKind::kLost},      // network error, writing
    {1161, ErrorKind::kLost},      // timeout, writing
    {1184, ErrorKind::kLost},      // aborted connection, with its user
    {1203, ErrorKind::kLost, Cause::kOther, kTooMany},  // too many connections of this user
    {1226, ErrorKind::kLost, Cause::kOther, kTooMany},  // user over a limit
    {1251, ErrorKind::kLost, Cause::kSetting, kAccountsPlugin},  // the client knows none such
    {1927, ErrorKind::kLost},      // connection was killed
    // Read-only: after a failover this connection leads to a server that is now a replica. A new
    // connection may lead to the new primary.
    {kReadOnly, ErrorKind::kLost, Cause::kOther, kPrimary},
    {1524, ErrorKind::kLost, Cause::kSetting, kAccountsPlugin},  // not loaded: the account's
    // The binary log takes no such change. A session keeps the format that it connected with.
    {1665, ErrorKind::kLost, Cause::kSetting, kBinlog},
    {1698, ErrorKind::kLost, Cause::kSetting, kSocketOnly},  // access denied, whatever the password
    {1792, ErrorKind::kLost},      // read-only transaction
    {1820, ErrorKind::kLost, Cause::kSetting, kPasswordExpired},  // it takes only a new password
    {1836, ErrorKind::kLost, Cause::kOther, kPrimary},  // running in read-only mode
    {1862, ErrorKind::kLost, Cause::kSetting, kPasswordExpired},  // and nobody may log in by it
    {3032, ErrorKind::kLost},      // MySQL: server in offline mode
    {3118, ErrorKind::kLost, Cause::kSetting, kAccountLocked},  // MySQL
    {3159, ErrorKind::kLost, Cause::kSetting, kCertificates},  // it takes none without TLS
    {3168, ErrorKind::kLost},      // MySQL: the server is not available
    {3169, ErrorKind::kLost},      // MySQL: connection was killed
    {3955, ErrorKind::kLost, Cause::kSetting, kAccountBlocked},  // MySQL: too many failed logins
    {4031, ErrorKind::kLost},      // MySQL: closed for idleness
    {4150, ErrorKind::kLost, Cause::kSetting, kAccountBlocked},  // MariaDB: the same
    {4151, ErrorKind::kLost, Cause::kSetting, kAccountLocked},  // MariaDB

    {kNoSuchTable, ErrorKind::kBusy, Cause::kSetting},
    {kNoSuchColumn, ErrorKind::kBusy, Cause::kSetting},
    {kNoSuchProcedure, ErrorKind::kBusy, Cause::kSetting},
    {kOtherParameters, ErrorKind::kBusy, Cause::kSetting},
    {kTableDenied, ErrorKind::kBusy, Cause::kSetting, kMakersRights},
    {kColumnDenied, ErrorKind::kBusy, Cause::kSetting, kMakersRights},
    {1148, ErrorKind::kBusy, Cause::kSetting, kLocalFiles},  // no LOAD DATA LOCAL; also below
    // MySQL: a right that no account of ours needs. It is SYSTEM_USER when a procedure is to be
    // replaced that an account made which has that.
    {1227, ErrorKind::kBusy, Cause::kSetting, kMaker},
    {kProcedureDenied, ErrorKind::kBusy, Cause::kSetting, kMakersRights},
    {3948, ErrorKind::kBusy, Cause::kSetting, kLocalFiles},
    {4166, ErrorKind::kBusy, Cause::kSetting, kLocalFiles},

    {1048, ErrorKind::kData},      // column cannot be null
    {1264, ErrorKind::kData},      // out of range for column
    {1265, ErrorKind::kData},      // data truncated
    {1292, ErrorKind::kData},      // incorrect value
    {1366, ErrorKind::kData},      // incorrect value for column
    {1367, ErrorKind::kData},      // illegal value found during parsing
    {1406, ErrorKind::kData},      // data too long
    {1690, ErrorKind::kData},      // value out of range in an expression
    {3819, ErrorKind::kData},      // MySQL: check constraint
    {4025, ErrorKind::kData},      // check constraint
};
// clang-format on

const Entry* Find(int code) {
  for (const Entry& entry : kTable) {
    if (entry.code == code) return &entry;
  }
  return nullptr;
}

bool IsMissing(int code) {
  return code == kNoSuchTable || code == kNoSuchColumn || code == kNoSuchProcedure ||
         code == kOtherParameters;
}

// Whether who was denied it asked for what programs do, and not to make tables.
bool IsOfPrograms(int code, std::string_view text) {
  if (code != kTableDenied && code != kColumnDenied && code != kProcedureDenied) return false;
  return std::any_of(std::begin(kOfPrograms), std::end(kOfPrograms),
                     [&](std::string_view command) { return text.starts_with(command); });
}

// The one of the table, or what the text knows better.
const char* AdviceOf(const Entry& entry, std::string_view text) {
  if (IsOfPrograms(entry.code, text)) return kRights;
  if (entry.code != kTls) return entry.advice;
  if (text.find(kNoTls) != std::string_view::npos) return kNoTlsThere;
  return text.find(kNotItsName) != std::string_view::npos ? kOtherName : entry.advice;
}

// "Can't connect to server on '127.0.0.1' (111)" -> "connection refused"
std::string WhyAway(std::string_view text) {
  const size_t open = text.rfind('(');
  int error = 0;
  if (open == std::string_view::npos ||
      std::from_chars(text.data() + open + 1, text.data() + text.size(), error).ec != std::errc() ||
      error <= 0) {
    return std::string(text);
  }
  // The client library connects without blocking, and does not keep the error of that.
  if (error == EINPROGRESS) return "no connection";
  std::string why = std::strerror(error);
  why[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(why[0])));
  return why;
}

}  // namespace

bool RefusesToConnect(int code) {
  // Too many connections: of all, of this user twice. No access: with this login, from this host,
  // from this host after many errors, with a locked account (MySQL, MariaDB), one blocked after
  // failed logins (MySQL, MariaDB), an old password, by the socket only, by this plugin twice.
  constexpr int kRefusals[] = {1040, 1203, 1226, 1045, 1130, 1129, 3118,
                               4151, 3955, 4150, 1862, 1698, 1524, 1251};
  return std::find(std::begin(kRefusals), std::end(kRefusals), code) != std::end(kRefusals);
}

bool IsTimeLimit(int code) {
  constexpr int kMariaDb = 1969, kMySql = 3024;
  return code == kMariaDb || code == kMySql;
}

// "Got error 149 - 'Lock deadlock; Retry transaction' during COMMIT": in clusters, where another
// node committed first.
int CodeOf(int code, const std::string& message) {
  constexpr int kOfTheEngine = 1180;
  const bool deadlock = message.find("error 149") != std::string::npos ||
                        message.find("eadlock") != std::string::npos;
  return code == kOfTheEngine && deadlock ? kDeadlock : code;
}

ErrorKind KindOf(int code) {
  if (const Entry* entry = Find(code)) return entry->kind;
  // After an error of the client library's own, the next result may be another statement's.
  return code >= 2000 && code < 2100 ? ErrorKind::kLost : ErrorKind::kBusy;
}

std::string OptionBehind(const MysqlError& error, const std::string& table,
                         const std::string& columns) {
  const int code = error.code();
  if (code == kTableDenied || code == kNoSuchTable) return table;
  return code == kColumnDenied || code == kNoSuchColumn ? columns : "";
}

Status StatusOf(const MysqlError& error, Shard shard) {
  Status status = StatusOf(error, ResourceOf(shard));
  if (IsMissing(error.code())) {
    const bool bare = std::string_view(error.what()).find(kFirstTable) != std::string_view::npos;
    status.message += bare ? "; run feedctl init first" : "; feedctl migrate makes what is missing";
  }
  return status;
}

Status StatusOf(const MysqlError& error, const Config& config, Shard shard) {
  if (error.code() == kUnsupported) return StatusOf(error, config.PlaceOf(shard));
  if (config.resource.empty()) return StatusOf(error, shard);
  Status status = StatusOf(error, config.resource);
  status.advice = "";  // it names options of the shards
  return status;
}

Status StatusOf(const MysqlError& error, const std::string& resource) {
  if (error.code() == kUnsupported) {
    Status refused = Status::Never(resource + ": " + error.what());
    refused.cause = Cause::kSetting;
    return refused;
  }
  const Entry* entry = Find(error.code());
  const bool away = entry != nullptr && entry->cause == Cause::kAway;
  const std::string text = "SQL error " + std::to_string(error.code()) + ": " +
                           (away ? WhyAway(error.what()) : std::string(error.what()));
  if (error.kind() == ErrorKind::kData) return Status::Never(text);
  Status status = Status::Later(resource, text);
  if (entry == nullptr) return status;
  status.cause = entry->cause;
  status.advice = AdviceOf(*entry, error.what());
  return status;
}

}  // namespace fanline::mysql
