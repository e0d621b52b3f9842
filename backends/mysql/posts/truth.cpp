#include "backends/mysql/posts/truth.h"

#include <utility>

#include "backends/mysql/edges/mutes.h"
#include "backends/mysql/posts/follower_pages.h"
#include "backends/mysql/posts/post_rows.h"

namespace fanline::mysql {

std::vector<PostStates> TruthService::DoAll(Connection& connection,
                                            const std::vector<ReadPostStates>& requests) {
  std::vector<PostKey> keys;
  for (const ReadPostStates& request : requests) {
    keys.insert(keys.end(), request.posts.begin(), request.posts.end());
  }
  const auto rows = ReadPostRows(connection, std::move(keys));

  std::vector<PostStates> replies;
  for (const ReadPostStates& request : requests) {
    PostStates& reply = replies.emplace_back();
    for (const PostKey& post : request.posts) {
      const auto row = rows.find(post);
      reply.posts.push_back(row == rows.end() ? PostState{} : row->second);
    }
  }
  return replies;
}

std::vector<FollowerPage> TruthService::DoAll(Connection& connection,
                                              const std::vector<ReadFollowerPage>& requests) {
  return ReadFollowerPages(connection, layout, requests);
}

MutesRead TruthService::Do(Connection& connection, const ReadMutes& request) {
  return {.id = 0,
          .shard = request.shard,
          .status = {},
          .mutes = ReadMutesRow(connection, request.reader)};
}

}  // namespace fanline::mysql
