#include "backends/mysql/sql/scan.h"

#include <string>

#include "backends/mysql/sql/sql_text.h"
#include "fanline/model/delivery.h"

namespace fanline::mysql {
namespace {

// A table whose primary key is two ids. `columns` begins with them.
struct Scanned {
  const char* columns;
  const char* table;
  const char* condition;
  const char* owner;
  const char* member;
};

// Reads the rest of the last owner, then the following owners. The comparison (owner, member) > (?,
// ?) would read far more than it returns. A page's rows are passed on only when the whole page has
// arrived, so a repeated page passes none twice.
Status Scan(ShardConnections& connections, Shard shard, const Scanned& scanned, uint32_t page,
            const std::function<void(const Row&)>& each) {
  uint64_t owner = 0, member = 0;
  uint32_t read = 0;
  const auto read_page = [&](const std::string& where) {
    const std::string sql = Sql("SELECT ", scanned.columns, " FROM ", scanned.table,
                                " FORCE INDEX (PRIMARY) WHERE ", scanned.condition, " AND ", where,
                                " ORDER BY ", scanned.owner, ", ", scanned.member, " LIMIT ", page);
    read = 0;
    return connections.Run(shard, [&](Connection& connection) {
      connection.Query(sql, [&](const Row& row) {
        ++read;
        owner = row.UInt64(1);
        member = row.UInt64(2);
        each(row);
      });
    });
  };
  for (;;) {
    Status status = read_page(Sql(scanned.owner, " > ", owner));
    if (!status.done() || read < page) return status;
    do {
      status = read_page(Sql(scanned.owner, " = ", owner, " AND ", scanned.member, " > ", member));
      if (!status.done()) return status;
    } while (read == page);
  }
}

}  // namespace

Status ScanFollowing(ShardConnections& connections, Shard shard,
                     const std::function<void(UserId src, UserId dst, bool reposts)>& each,
                     uint32_t page) {
  constexpr Scanned kFollowing = {"src, dst, delivery", "following", "state = 1 AND delivery <> 2",
                                  "src", "dst"};
  return Scan(connections, shard, kFollowing, page, [&](const Row& row) {
    const bool reposts = StoredDelivery(row.Int64(3)) != Delivery::kNoReposts;
    each(UserId{row.UInt64(1)}, UserId{row.UInt64(2)}, reposts);
  });
}

Status ScanVisiblePosts(ShardConnections& connections, Shard shard,
                        const std::function<void(const Item& item, bool pushed)>& each,
                        uint32_t page) {
  constexpr Scanned kPosts = {
      "author_id, post_id, created_at_ms, original_id, original_author, pushed", "author_post",
      "deleted = 0 AND hidden = 0 AND created_at_ms > 0", "author_id", "post_id"};
  return Scan(connections, shard, kPosts, page, [&](const Row& row) {
    Item item{PostId{row.UInt64(2)}, row.Int64(3), UserId{row.UInt64(1)}};
    if (!row.IsNull(4)) item.original = {PostId{row.UInt64(4)}, UserId{row.UInt64(5)}};
    each(item, row.Bool(6));
  });
}

}  // namespace fanline::mysql
