// Rows of `author_post` by key.
#pragma once

#include <map>
#include <vector>

#include "backends/mysql/sql/connection.h"
#include "backends/mysql/sql/statements.h"
#include "fanline/model/post_state.h"

namespace fanline::mysql {

// The rows there are; a post without one is not in the answer. `keys` in any order, repeats
// allowed, of authors of the connection's shard. Throws MysqlError.
std::map<PostKey, PostState> ReadPostRows(Connection& connection, std::vector<PostKey> keys);

// The same, for keys most of which have no row: posts of anybody, asked for as if they were one
// author's. Where an author's own rows lie far apart among them, these are read instead, 900 at
// once: then it does not matter how many are asked for.
std::map<PostKey, PostState> ReadPostRowsAmong(Connection& connection, std::vector<PostKey> keys);

}  // namespace fanline::mysql
