#include "backends/mysql/sql/connection.h"

#include <cppconn/connection.h>
#include <cppconn/datatype.h>
#include <cppconn/driver.h>
#include <cppconn/exception.h>
#include <cppconn/resultset.h>
#include <cppconn/resultset_metadata.h>
#include <cppconn/statement.h>

#include <mutex>

#include "backends/mysql/sql/server.h"
#include "fanline/base/endpoint.h"

namespace fanline::mysql {
namespace {

constexpr int kDeadlockAttempts = 5;
constexpr uint32_t kLongestVector = 65'532;  // bytes; 16,383 numbers

sql::Driver& Driver() {
  static std::once_flag once;
  static sql::Driver* driver = nullptr;
  std::call_once(once, [] { driver = get_driver_instance(); });  // not thread-safe by itself
  return *driver;
}

// The client library requires that every thread registers that uses it.
struct ThreadRegistration {
  ThreadRegistration() { Driver().threadInit(); }
  ~ThreadRegistration() { Driver().threadEnd(); }
};
void RegisterThread() { thread_local ThreadRegistration registration; }

// Turns the connector's exceptions into ours. All calls into the connector go through here.
template <typename Call>
auto Translated(Call call) {
  try {
    return call();
  } catch (const sql::SQLException& error) {
    throw MysqlError(error.getErrorCode(), error.what());
  }
}

// Closes a connection that an error has made useless.
template <typename Call>
auto OnOpen(Connection& connection, Call call) {
  if (!connection.is_open()) throw MysqlError(2006, "the connection is closed");
  try {
    return Translated(call);
  } catch (const MysqlError& error) {
    if (error.kind() == ErrorKind::kLost) connection.Close();
    throw;
  }
}

// Newer servers have several read-only modes, each with a name. Every value except off counts as
// read-only.
bool IsOff(const std::string& value) { return value == "0" || value == "OFF"; }

int Seconds(std::chrono::seconds duration) { return static_cast<int>(duration.count()); }

std::string PasswordOf(const Config& config) {
  std::string password;
  const std::string wrong = config.password.Read(&password);
  if (!wrong.empty()) throw MysqlError(0, "the password's file " + wrong);
  return password;
}

sql::ConnectOptionsMap OptionsOf(const Config& config, const ShardAddress& address,
                                 const Connection::Options& options) {
  sql::ConnectOptionsMap map;
  map["hostName"] = "tcp://" + ToString(Endpoint{address.host, address.port});
  map["userName"] = config.user;
  map["password"] = PasswordOf(config);
  map["schema"] = address.database;
  map["OPT_CONNECT_TIMEOUT"] = Seconds(config.connect_timeout);
  map["OPT_READ_TIMEOUT"] = Seconds(options.read_timeout.value_or(config.read_timeout));
  map["OPT_WRITE_TIMEOUT"] = Seconds(config.write_timeout);
  if (config.tls.on()) {
    map["sslCA"] = config.tls.authority;
    if (!config.tls.certificate.empty()) map["sslCert"] = config.tls.certificate;
    if (!config.tls.key.empty()) map["sslKey"] = config.tls.key;
    // Without this the client library falls back to plain text when a server offers no TLS.
    map["sslVerify"] = true;
  }
  if (options.local_infile) map["OPT_LOCAL_INFILE"] = 1;
  return map;
}

}  // namespace

uint64_t Row::UInt64(uint32_t column) const { return result_.getUInt64(column); }
int64_t Row::Int64(uint32_t column) const { return result_.getInt64(column); }
std::string Row::Text(uint32_t column) const { return result_.getString(column); }

std::optional<int64_t> Row::OptionalInt64(uint32_t column) const {
  if (result_.isNull(column)) return std::nullopt;
  return result_.getInt64(column);
}

Row::Type Row::TypeOf(uint32_t column) const {
  switch (result_.getMetaData()->getColumnType(column)) {
    case sql::DataType::BIT:
    case sql::DataType::TINYINT:
    case sql::DataType::SMALLINT:
    case sql::DataType::MEDIUMINT:
    case sql::DataType::INTEGER:
    case sql::DataType::YEAR:
      return Type::kInteger;
    case sql::DataType::BIGINT:
      return Type::kWideInteger;
    case sql::DataType::REAL:
    case sql::DataType::DOUBLE:
      return Type::kReal;
    case sql::DataType::BINARY:
    case sql::DataType::VARBINARY:
    case sql::DataType::LONGVARBINARY:
    case sql::DataType::GEOMETRY:
      return Type::kBytes;
    // The connector knows neither MySQL's VECTOR nor its JSON, which may be longer.
    case sql::DataType::UNKNOWN:
      return result_.getMetaData()->getColumnDisplaySize(column) <= kLongestVector ? Type::kBytes
                                                                                   : Type::kText;
    default:
      return Type::kText;
  }
}

bool Row::IsNull(uint32_t column) const { return result_.isNull(column); }
double Row::Double(uint32_t column) const { return static_cast<double>(result_.getDouble(column)); }

Connection::Connection(const Config& config, Shard shard, Options options)
    : config_(config), shard_(shard), options_(options) {}

Connection::~Connection() { Close(); }

void Connection::Open() {
  Close();
  try {
    Connect();
  } catch (const MysqlError&) {
    Close();
    throw;
  }
}

void Connection::Connect() {
  RegisterThread();
  Translated([&] {
    auto options = OptionsOf(config_, config_.shards[shard_], options_);
    connection_.reset(Driver().connect(options));
    statement_.reset(connection_->createStatement());
  });
  RequireSupported();
  // What the server's administrator has set for sessions in general must not decide (init_connect,
  // skip_character_set_client_handshake, limits).
  Execute("SET NAMES utf8mb4 COLLATE utf8mb4_general_ci");
  const std::string wait = std::to_string(Seconds(config_.lock_wait));
  Execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE");
  Execute(
      "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ENGINE_SUBSTITUTION', "
      "time_zone = '+00:00', autocommit = 1, completion_type = 0, "
      "sql_select_limit = 18446744073709551615, innodb_lock_wait_timeout = " +
      wait + ", lock_wait_timeout = " + wait + IdleTransactionLimit(config_.idle_transaction) +
      kNoTimeLimit);
  const std::string who =
      std::string("SELECT @@hostname, @@port, @@server_id, @@datadir, ") + kServerStart;
  Query(who, [this](const Row& row) {
    std::string name;
    for (uint32_t column = 1; column <= 5; ++column) name += row.Text(column) + '/';
    server_ = std::hash<std::string>()(name);
  });
  RequirePrimary();
}

// Before any statement that another kind of server could refuse for a reason that misleads.
void Connection::RequireSupported() {
  Server server;
  Query("SELECT @@version", [&](const Row& row) { server = ServerOf(row.Text(1)); });
  if (config_.holds_ours && !server.refusal.empty()) {
    throw MysqlError(kUnsupported, server.name + ' ' + server.refusal);
  }
  server_name_ = std::move(server.name);
}

void Connection::CheckPrimary(Time now) {
  if (checked_primary_ && now - *checked_primary_ < config_.primary_check) return;
  RequirePrimary();
  checked_primary_ = now;
}

void Connection::RequirePrimary() {
  if (config_.replica) return;
  bool read_only = false;
  Query("SELECT @@global.read_only, @@global.innodb_read_only",
        [&](const Row& row) { read_only = !IsOff(row.Text(1)) || !IsOff(row.Text(2)); });
  if (!read_only) return;
  Close();
  throw MysqlError(kReadOnly, "the server is read-only: no primary");
}

void Connection::Close() noexcept {
  checked_primary_.reset();
  statement_.reset();
  connection_.reset();
}

uint64_t Connection::Execute(const std::string& sql) {
  return OnOpen(*this, [&] { return static_cast<uint64_t>(statement_->executeUpdate(sql)); });
}

void Connection::Query(const std::string& sql, const std::function<void(const Row&)>& each) {
  OnOpen(*this, [&] {
    const std::unique_ptr<sql::ResultSet> result(statement_->executeQuery(sql));
    const Row row(*result);
    while (result->next()) each(row);
  });
}

uint64_t Connection::Number(const std::string& sql) {
  uint64_t number = 0;
  Query(sql, [&](const Row& row) { number = row.UInt64(1); });
  return number;
}

void Connection::RetryDeadlocks(const std::function<void()>& attempt) {
  for (int attempts = 1; attempts < kDeadlockAttempts; ++attempts) {
    try {
      return attempt();
    } catch (const MysqlError& error) {
      if (error.kind() != ErrorKind::kDeadlock) throw;
    }
  }
  attempt();
}

void Connection::Call(const std::string& sql, const std::function<void(const Row&)>& each) {
  RetryDeadlocks([&] { CallOnce(sql, each); });
}

void Connection::CallOnce(const std::string& sql, const std::function<void(const Row&)>& each) {
  try {
    OnOpen(*this, [&] {
      // A procedure sends a status after its results. All answers must be taken, or the next
      // statement would read this one's.
      for (bool more = statement_->execute(sql); more; more = statement_->getMoreResults()) {
        const std::unique_ptr<sql::ResultSet> result(statement_->getResultSet());
        if (result == nullptr) break;
        const Row row(*result);
        while (result->next()) each(row);
      }
    });
  } catch (const MysqlError&) {
    RollBack();
    throw;
  }
}

void Connection::Transact(const std::function<bool()>& body) {
  RetryDeadlocks([&] { TransactOnce(body); });
}

void Connection::TransactOnce(const std::function<bool()>& body) {
  Execute("START TRANSACTION");
  try {
    if (body()) {
      Execute("COMMIT");
    } else {
      Execute("ROLLBACK");
    }
  } catch (...) {
    RollBack();
    throw;
  }
}

// A connection that cannot roll back is closed, which also rolls back.
void Connection::RollBack() noexcept {
  if (!is_open()) return;
  try {
    Execute("ROLLBACK");
  } catch (const std::exception&) {
    Close();
  }
}

}  // namespace fanline::mysql
