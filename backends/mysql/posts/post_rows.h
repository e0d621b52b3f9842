// Rows of `author_post` by key.
#pragma once

#include <map>
#include <vector>

#include "backends/mysql/sql/connection.h"
#include "backends/mysql/sql/statements.h"
#include "fanline/model/post_state.h"

namespace fanline::mysql {

// The stored rows; a post without a row is left out. `keys` in any order, repeats allowed, of
// authors of the connection's shard. Throws MysqlError.
std::map<PostKey, PostState> ReadPostRows(Connection& connection, std::vector<PostKey> keys);

// The same, for keys most of which have no row, such as posts of anybody asked for as one author's.
// Where an author has few rows among many keys, these rows are read instead, 900 at once: then the
// number of keys does not matter.
std::map<PostKey, PostState> ReadPostRowsAmong(Connection& connection, std::vector<PostKey> keys);

}  // namespace fanline::mysql
