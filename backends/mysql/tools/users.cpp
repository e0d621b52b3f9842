#include "backends/mysql/tools/users.h"

#include <string>
#include <vector>

namespace fanline::mysql {
namespace {

constexpr uint32_t kPage = 50'000;

}  // namespace

Status ScanReaders(ShardConnections& connections, Shard shard,
                   const std::function<void(UserId)>& each) {
  std::vector<UserId> page;
  UserId last{};
  do {
    const std::string sql = "SELECT user_id FROM user_rel WHERE following_cnt > 0 AND user_id > " +
                            ToString(last) + " ORDER BY user_id LIMIT " + std::to_string(kPage);
    // A page's users are passed on when all have arrived, because Run may call this twice.
    Status status = connections.Run(shard, [&](Connection& connection) {
      page.clear();
      connection.Query(sql, [&](const Row& row) { page.push_back(UserId{row.UInt64(1)}); });
    });
    if (!status.done()) return status;
    for (const UserId user : page) each(user);
    if (!page.empty()) last = page.back();
  } while (page.size() == kPage);
  return Status::Done();
}

}  // namespace fanline::mysql
