#include "backends/mysql/posts/truth.h"

#include <utility>

#include "backends/mysql/posts/follower_pages.h"
#include "backends/mysql/posts/post_rows.h"

namespace fanline::mysql {

std::vector<PostPage> TruthService::DoAll(Connection& connection,
                                          const std::vector<ReadPostPage>& requests) {
  std::vector<PostKey> keys;
  std::vector<PageQuery> queries;
  for (const ReadPostPage& request : requests) {
    for (const PostId post : request.posts) keys.push_back({request.author, post});
    queries.push_back({request.author, request.range, request.after, request.limit});
  }
  const auto rows = ReadPostRows(connection, std::move(keys));
  auto pages = ReadFollowerPages(connection, layout, queries);

  std::vector<PostPage> replies;
  for (size_t i = 0; i < requests.size(); ++i) {
    PostPage reply;
    for (const PostId post : requests[i].posts) {
      const auto row = rows.find({requests[i].author, post});
      reply.posts.push_back(row == rows.end() ? PostState{} : row->second);
    }
    reply.followers = std::move(pages[i].followers);
    reply.next = pages[i].next;
    replies.push_back(std::move(reply));
  }
  return replies;
}

}  // namespace fanline::mysql
