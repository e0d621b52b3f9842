#include "backends/mysql/sql/server.h"

#include <array>
#include <charconv>
#include <cstdio>

#include "backends/mysql/sql/sql_text.h"
#include "fanline/base/check.h"

namespace fanline::mysql {
namespace {

constexpr std::string_view kSupported =
    "MariaDB 10.11 and MySQL 8.0.29, and later versions of both";

using Numbers = std::array<unsigned, 3>;
constexpr Numbers kFirstMariaDb{10, 11, 0};
constexpr Numbers kFirstMySql{8, 0, 29};  // CREATE TABLE with DEFAULT (expression): 8.0.13

// "8.0.36-28" -> 8, 0, 36. What is missing is 0.
Numbers NumbersOf(std::string_view version) {
  Numbers numbers{};
  const char* at = version.data();
  const char* const end = at + version.size();
  for (unsigned& number : numbers) {
    const auto [after, error] = std::from_chars(at, end, number);
    if (error != std::errc() || after == end || *after != '.') break;
    at = after + 1;
  }
  return numbers;
}

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

Server ServerOf(std::string_view version) {
  // Both call themselves a version of MySQL, and show their own behind it.
  for (const char* const other : {"TiDB", "Vitess"}) {
    if (!Has(version, other)) continue;
    return {Sql(other, " (", version, ")"),
            Sql("has no stored procedures that answer rows in a transaction of their own, and a "
                "follow is one; supported are ",
                kSupported)};
  }
  const bool mariadb = Has(version, "MariaDB");
  const Numbers numbers = NumbersOf(version);
  Server server{Sql(mariadb ? "MariaDB " : "MySQL ", numbers[0], '.', numbers[1], '.', numbers[2]),
                ""};
  if (numbers < (mariadb ? kFirstMariaDb : kFirstMySql)) {
    server.refusal = Sql("is too old; supported are ", kSupported);
  }
  return server;
}

bool TellsEndOfBinlog(std::string_view version) {
  return Has(version, "MariaDB") || NumbersOf(version) >= Numbers{8, 2, 0};
}

// An application's own server may be older than the first MariaDB that knows these: 10.3 and 10.1.
std::string IdleTransactionLimit(std::chrono::seconds limit) {
  return Sql("/*M!100300 , idle_transaction_timeout = ", limit.count(),
             " */ /*!80000 , wait_timeout = 60 */");
}

const char* const kNoTimeLimit =
    "/*M!100100 , max_statement_time = 0 */ /*!80000 , max_execution_time = 0 */";

const char* const kServerStart =
    "/*!80000 COALESCE(UNIX_TIMESTAMP() - (SELECT variable_value FROM"
    " performance_schema.global_status WHERE variable_name = 'Uptime'), */ RIGHT(UUID(), 17)"
    " /*!80000 ) */";

std::string Limited(std::chrono::milliseconds limit, std::string_view select) {
  constexpr std::string_view kSelect = "SELECT ";
  FANLINE_CHECK(select.starts_with(kSelect), "a SELECT can be limited");
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.3f", static_cast<double>(limit.count()) / 1000);
  return Sql("/*M! SET STATEMENT max_statement_time = ", seconds,
             " FOR */ SELECT /*+ MAX_EXECUTION_TIME(", limit.count(), ") */ ",
             select.substr(kSelect.size()));
}

}  // namespace fanline::mysql
