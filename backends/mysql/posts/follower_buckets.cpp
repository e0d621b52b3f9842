#include "backends/mysql/posts/follower_buckets.h"

#include <utility>

#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {
namespace {

constexpr uint64_t kRowsPerRead = 10'000;  // by the counters

struct Readers {
  std::vector<UserId> authors;
  uint64_t promised = 0;  // rows, by the counters

  bool TakesNoMore(uint64_t count) const {
    return authors.size() == kAuthorsLimit || (!authors.empty() && promised + count > kRowsPerRead);
  }
};

// `limit` is one row more than expected. If it is reached, rows may be missing and nothing is
// returned.
void Read(Connection& connection, const std::vector<UserId>& authors, uint64_t limit,
          FollowerBuckets& found) {
  std::map<UserId, std::vector<Bucket>> read;
  for (const UserId author : authors) read[author];
  uint64_t rows = 0;
  const std::string sql = Sql(  // reads the index alone
      "SELECT dst, bucket FROM follower FORCE INDEX (newest) WHERE state = 1 AND dst IN ",
      InList(authors), " LIMIT ", limit);
  connection.Query(sql, [&](const Row& row) {
    ++rows;
    read[UserId{row.UInt64(1)}].push_back(static_cast<Bucket>(row.UInt64(2)));
  });
  if (rows >= limit) return;
  for (auto& [author, buckets] : read) SortUnique(buckets);
  found.whole.merge(read);
}

}  // namespace

FollowerBuckets ReadFollowerBuckets(Connection& connection,
                                    const std::map<UserId, uint64_t>& counters, uint32_t most) {
  FollowerBuckets found;
  Readers next;
  const auto read = [&] {
    const Readers now = std::exchange(next, {});
    if (now.authors.empty()) return;
    Read(connection, now.authors, now.promised + most + 1, found);
  };
  try {
    for (const auto& [author, count] : counters) {
      if (count > most) continue;
      if (next.TakesNoMore(count)) read();
      next.authors.push_back(author);
      next.promised += count;
    }
    read();
  } catch (const MysqlError& error) {
    found.status = StatusOf(error, connection.shard());
  }
  return found;
}

}  // namespace fanline::mysql
