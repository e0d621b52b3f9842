// Rows of `author_post` by key.
#pragma once

#include <map>
#include <vector>

#include "backends/mysql/sql/connection.h"
#include "backends/mysql/sql/statements.h"
#include "fanline/model/post_state.h"

namespace fanline::mysql {

// Returns the stored rows; a post without a row is missing. `keys` may have any order and repeats;
// their authors lie on the connection's shard. Throws MysqlError.
std::map<PostKey, PostState> ReadPostRows(Connection& connection, std::vector<PostKey> keys);

// The same for keys that mostly have no row, such as posts of anybody looked up as one author's. If
// an author has few rows among many keys, the author's rows are read instead, 900 at a time, so
// that the number of keys does not matter.
std::map<PostKey, PostState> ReadPostRowsAmong(Connection& connection, std::vector<PostKey> keys);

}  // namespace fanline::mysql
