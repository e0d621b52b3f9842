// Rows of `author_post`, by key and as an author's outbox.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/mysql/sql/connection.h"
#include "fanline/model/ids.h"
#include "fanline/model/post_state.h"
#include "fanline/ports/reader_ports.h"

namespace fanline::mysql {

// Of the column of its id, and the one behind it. Both are NULL in a post that is no repost.
Original OriginalOf(const Row& row, uint32_t column);

// "((1,2),(3,4))"
std::string PostKeyList(std::span<const PostKey> keys);

// Returns the stored rows; a post without a row is missing. `keys` may have any order and repeats;
// their authors lie on the connection's shard. Throws MysqlError.
std::map<PostKey, PostState> ReadPostRows(Connection& connection, std::vector<PostKey> keys);

// Of a row that begins with author_id, post_id, created_at_ms, original_id, original_author.
Item ItemOf(const Row& row);

// The columns of ItemOf of the author's newest visible items in the span, either the pushed ones or
// the others, in order; in brackets, for a UNION. `reposts`: those among them, too.
std::string OutboxSql(UserId author, bool pushed, bool reposts, const TimeSpan& span,
                      uint32_t limit);

}  // namespace fanline::mysql
