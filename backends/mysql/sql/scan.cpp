#include "backends/mysql/sql/scan.h"

#include <optional>
#include <string>
#include <utility>

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
using Key = std::pair<uint64_t, uint64_t>;
using EachRow = std::function<void(const Row&)>;

class Scanner {
 public:
  Scanner(ShardConnections& connections, Shard shard, const Scanned& scanned, uint32_t page,
          const EachRow& each)
      : connections_(connections), shard_(shard), scanned_(scanned), page_(page), each_(each) {}

  // Reads the rest of the last owner, then the following owners. The comparison (owner, member) >
  // (?, ?) would read far more than it returns.
  Status Run() {
    std::optional<Key> last;
    for (;;) {
      uint32_t read = 0;
      if (last) {
        const std::string rest = std::string(scanned_.owner) + " = " + std::to_string(last->first) +
                                 " AND " + scanned_.member + " > " + std::to_string(last->second);
        if (Status status = ReadPage(rest, last, read); !status.done()) return status;
        if (read == page_) continue;
      }
      const std::string others =
          std::string(scanned_.owner) + " > " + std::to_string(last ? last->first : 0);
      if (Status status = ReadPage(others, last, read); !status.done()) return status;
      if (read < page_) return Status::Done();
    }
  }

 private:
  // A page's rows are passed on only when the whole page has arrived, so a repeated page passes
  // none twice.
  Status ReadPage(const std::string& where, std::optional<Key>& last, uint32_t& read) {
    const std::string sql = std::string("SELECT ") + scanned_.columns + " FROM " + scanned_.table +
                            " FORCE INDEX (PRIMARY) WHERE " + scanned_.condition + " AND " + where +
                            " ORDER BY " + scanned_.owner + ", " + scanned_.member + " LIMIT " +
                            std::to_string(page_);
    read = 0;
    return connections_.Run(shard_, [&](Connection& connection) {
      connection.Query(sql, [&](const Row& row) {
        ++read;
        last = Key{row.UInt64(1), row.UInt64(2)};
        each_(row);
      });
    });
  }

  ShardConnections& connections_;
  const Shard shard_;
  const Scanned& scanned_;
  const uint32_t page_;
  const EachRow& each_;
};

}  // namespace

Status ScanFollowing(ShardConnections& connections, Shard shard,
                     const std::function<void(UserId src, UserId dst)>& each, uint32_t page) {
  constexpr Scanned kFollowing = {"src, dst", "following", "state = 1", "src", "dst"};
  const EachRow row = [&](const Row& r) { each(UserId{r.UInt64(1)}, UserId{r.UInt64(2)}); };
  return Scanner(connections, shard, kFollowing, page, row).Run();
}

Status ScanVisiblePosts(ShardConnections& connections, Shard shard,
                        const std::function<void(UserId author, Item item, bool pushed)>& each,
                        uint32_t page) {
  constexpr Scanned kPosts = {"author_id, post_id, created_at_ms, pushed", "author_post",
                              "deleted = 0 AND hidden = 0 AND created_at_ms > 0", "author_id",
                              "post_id"};
  const EachRow row = [&](const Row& r) {
    each(UserId{r.UInt64(1)}, Item{PostId{r.UInt64(2)}, r.Int64(3)}, r.Bool(4));
  };
  return Scanner(connections, shard, kPosts, page, row).Run();
}

}  // namespace fanline::mysql
