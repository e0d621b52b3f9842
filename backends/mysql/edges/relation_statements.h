// The SQL of relation lists and checks, as text, kept where a test can EXPLAIN it. As in
// statements.h: lists within kListLimit and never empty.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "backends/mysql/sql/statements.h"
#include "fanline/model/ids.h"
#include "fanline/model/relation.h"

namespace fanline::mysql {

// dst, pos of those `user` follows, newest first, behind `after`.
std::string FollowingPageSql(UserId user, const std::optional<ListCursor>& after, uint32_t limit);
// src, pos of those who follow `user`, newest first, behind `after`.
std::string FollowersPageSql(UserId user, const std::optional<ListCursor>& after, uint32_t limit);
// One number: how many followers of `user` a list shows up to and including `after`, counted up to
// `most`; 0 when `user` has at most `most` followers, who are not counted.
std::string FollowersBeforeSql(UserId user, const ListCursor& after, uint32_t most);
// dst, pos of those `user` follows and who follow `user`, by the time `user` followed them.
std::string FriendsPageSql(UserId user, const std::optional<ListCursor>& after, uint32_t limit);

// dst of those of `users` whom `src` follows
std::string FollowedAmongSql(UserId src, std::span<const UserId> users);
// src, dst, ver, state, pos of those of `edges` that have a row
std::string ForwardRowsSql(std::span<const EdgeKey> edges);
std::string ReverseRowsSql(std::span<const EdgeKey> edges);

}  // namespace fanline::mysql
