#include "backends/mysql/binlog/binlog_link.h"

#include <mariadb/mysql.h>
// Needs the one above.
#include <mariadb/mariadb_rpl.h>

#include <limits>
#include <string>

#include "backends/mysql/sql/errors.h"

namespace fanline::mysql {
namespace {

constexpr int kLinkLost = 2013;

// By TCP, as our other connections: the library takes a host `localhost` for the socket of this
// machine's own server.
void SetProtocol(MYSQL* mysql) {
  const unsigned int tcp = MYSQL_PROTOCOL_TCP;
  mysql_options(mysql, MYSQL_OPT_PROTOCOL, &tcp);
}

void SetSeconds(MYSQL* mysql, mysql_option option, std::chrono::seconds limit) {
  const auto seconds = static_cast<unsigned int>(limit.count());
  mysql_options(mysql, option, &seconds);
}

const char* OrNull(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

void SetTls(MYSQL* mysql, const TlsFiles& tls) {
  if (!tls.on()) return;
  const my_bool yes = 1;
  mysql_ssl_set(mysql, OrNull(tls.key), OrNull(tls.certificate), OrNull(tls.authority), nullptr,
                nullptr);
  mysql_options(mysql, MYSQL_OPT_SSL_ENFORCE, &yes);
  mysql_options(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
}

}  // namespace

void BinlogLink::Close::operator()(st_mysql* link) const { mysql_close(link); }
void BinlogLink::Close::operator()(st_mariadb_rpl* link) const { mariadb_rpl_close(link); }

BinlogLink::BinlogLink(const Config& config, Shard shard, const BinlogPlace& from,
                       uint32_t server_id)
    : mysql_(mysql_init(nullptr)) {
  std::string password;
  const std::string wrong = config.password.Read(&password);
  if (!wrong.empty()) throw MysqlError(0, "the password's file " + wrong);
  if (from.position > std::numeric_limits<uint32_t>::max()) {
    throw MysqlError(0, "the binary log's file is larger than can be asked for; FLUSH BINARY LOGS");
  }
  MYSQL* const mysql = mysql_.get();
  SetProtocol(mysql);
  SetSeconds(mysql, MYSQL_OPT_CONNECT_TIMEOUT, config.connect_timeout);
  SetSeconds(mysql, MYSQL_OPT_READ_TIMEOUT, config.read_timeout);
  SetSeconds(mysql, MYSQL_OPT_WRITE_TIMEOUT, config.write_timeout);
  mysql_options(mysql, MYSQL_OPT_MAX_ALLOWED_PACKET, &kMostBytes);
  SetTls(mysql, config.tls);
  const ShardAddress& address = config.shards[shard];
  if (mysql_real_connect(mysql, address.host.c_str(), config.user.c_str(), password.c_str(),
                         address.database.c_str(), address.port, nullptr, 0) == nullptr) {
    Throw();
  }
  // A server sends nothing to who does not know its checksums. MySQL is about to rename them all.
  Set("SET @mariadb_slave_capability = 4, @master_binlog_checksum = @@global.binlog_checksum,"
      " @source_binlog_checksum = @@global.binlog_checksum");
  const std::string period =
      std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(kHeartbeat).count());
  Set(("SET @master_heartbeat_period = " + period + ", @source_heartbeat_period = " + period)
          .c_str());
  log_.reset(mariadb_rpl_init(mysql));
  if (log_ == nullptr) Throw();
  mariadb_rpl_optionsv(log_.get(), MARIADB_RPL_SERVER_ID, server_id);
  mariadb_rpl_optionsv(log_.get(), MARIADB_RPL_FILENAME, from.file.c_str(), from.file.size());
  mariadb_rpl_optionsv(log_.get(), MARIADB_RPL_START, static_cast<unsigned long>(from.position));
  if (mariadb_rpl_open(log_.get()) != 0) Throw();
}

BinlogLink::~BinlogLink() = default;

// libmariadb would make an object of each event, and gives up at types that it does not know. We
// need two types, and read them ourselves.
std::string_view BinlogLink::Next() {
  const unsigned long length = mysql_net_read_packet(mysql_.get());
  if (length == packet_error) Throw();
  const auto* bytes = reinterpret_cast<const char*>(mysql_->net.read_pos);
  const bool ended = length < 9 && static_cast<unsigned char>(bytes[0]) == 0xfe;
  if (length == 0 || ended) throw MysqlError(kLinkLost, "the server ended its binary log");
  return {bytes + 1, length - 1};  // behind a byte that says that all is well
}

void BinlogLink::Set(const char* sql) {
  if (mysql_query(mysql_.get(), sql) != 0) Throw();
}

void BinlogLink::Throw() const {
  throw MysqlError(static_cast<int>(mysql_errno(mysql_.get())), mysql_error(mysql_.get()));
}

}  // namespace fanline::mysql
