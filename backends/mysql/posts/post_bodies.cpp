#include "backends/mysql/posts/post_bodies.h"

#include <string_view>
#include <unordered_map>
#include <utility>

#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/server.h"
#include "backends/mysql/sql/shard_connections.h"
#include "backends/mysql/sql/sql_text.h"
#include "fanline/base/mono_now.h"

namespace fanline::mysql {
namespace {

std::string Base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t three = 0;
    for (size_t k = 0; k < 3; ++k) {
      three = three << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0);
    }
    for (size_t k = 0; k < 4; ++k) {
      text += i + k <= bytes.size() ? kDigits[three >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

BodyValue ValueOf(const Row& row, uint32_t column) {
  if (row.IsNull(column)) return {};
  switch (row.TypeOf(column)) {
    case Row::Type::kInteger:
      return row.Int64(column);
    case Row::Type::kReal:
      return row.Double(column);
    case Row::Type::kBytes:
      return Base64(row.Text(column));
    case Row::Type::kWideInteger:
    case Row::Type::kText:
      break;
  }
  return row.Text(column);
}

size_t BytesOf(const BodyValues& values) {
  size_t bytes = 0;
  for (const BodyValue& value : values) {
    const auto* text = std::get_if<std::string>(&value);
    bytes += text != nullptr ? text->size() : sizeof value;
  }
  return bytes;
}

std::string SelectSql(const BodiesConfig& config) {
  std::string sql = "SELECT " + QuotedName(config.id_column);
  for (const std::string& column : config.columns) sql += "," + QuotedName(column);
  return sql + " FROM " + QuotedName(config.table);
}

}  // namespace

BodiesAnswered BodiesService::Do(Connection& connection, const ReadBodies& request) const {
  BodiesAnswered reply;
  BodiesRead* out = &reply.read;
  const Time begin = MonoNow();
  size_t bytes = 0;  // of what was looked up
  bool enough = false;
  ForEachChunk(request.posts, kIdsPerStatement, [&](std::span<const PostId> chunk) {
    if (enough) return;
    const std::string sql = Limited(
        config.time_limit,
        Sql(SelectSql(config), " WHERE ", QuotedName(config.id_column), " IN ", InList(chunk)));
    std::unordered_map<PostId, BodyValues> came;
    connection.Query(sql, [&](const Row& row) {
      BodyValues values;
      for (uint32_t i = 0; i < config.columns.size(); ++i) values.push_back(ValueOf(row, i + 2));
      came.emplace(PostId{row.UInt64(1)}, std::move(values));
    });
    for (const PostId post : chunk) {  // an original once for each of its reposts
      if (bytes >= kMostBytes) break;
      ++out->looked_up;
      const auto body = came.find(post);
      if (body == came.end()) continue;
      bytes += BytesOf(body->second);
      out->found.emplace_back(post, body->second);
    }
    enough = bytes >= kMostBytes || MonoNow() - begin >= config.time_limit;
  });
  return reply;
}

Status CheckBodiesTable(const BodiesConfig& config) {
  const std::string select = SelectSql(config);
  ShardConnections connections(config.server);
  std::string wrong, type;
  Status status = connections.Run(0, [&](Connection& connection) {
    try {
      connection.Query(select + " LIMIT 0", [](const Row&) {});
      connection.Query(
          "SELECT DATA_TYPE FROM information_schema.columns WHERE table_schema = DATABASE() AND "
          "table_name = " +
              Quoted(config.table) + " AND column_name = " + Quoted(config.id_column),
          [&](const Row& row) { type = row.Text(1); });
    } catch (const MysqlError& error) {
      const std::string option =
          OptionBehind(error, "--bodies-table", "--bodies-columns or --bodies-id-column");
      if (option.empty()) throw;
      wrong = option + ": " + error.what();
    }
  });
  if (wrong.empty() && !type.empty() && !type.ends_with("int")) {
    wrong = "--bodies-id-column: " + config.table + "." + config.id_column + " is " + type +
            "; it must hold the posts' ids as integers";
  }
  return wrong.empty() ? status : Status::Never(wrong);
}

}  // namespace fanline::mysql
