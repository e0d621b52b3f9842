// Rows of `author_post` by key.
#pragma once

#include <map>
#include <vector>

#include "backends/mysql/connection.h"
#include "backends/mysql/statements.h"
#include "fanline/post_state.h"

namespace fanline::mysql {

// The rows there are; a post without one is not in the answer. `keys` in any order, repeats
// allowed, of authors of the connection's shard. Throws MysqlError.
std::map<PostKey, PostState> ReadPostRows(Connection& connection, std::vector<PostKey> keys);

}  // namespace fanline::mysql
