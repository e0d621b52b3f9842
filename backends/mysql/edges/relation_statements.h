// The SQL of relation lists and checks as text; a test EXPLAINs it. As in statements.h, lists must
// have 1 to kListLimit elements.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "backends/mysql/sql/statements.h"
#include "fanline/model/ids.h"
#include "fanline/model/relation.h"

namespace fanline::mysql {

// dst, pos of the users whom `user` follows, newest first, behind `after`.
std::string FollowingPageSql(UserId user, const std::optional<ListCursor>& after, uint32_t limit);
// src, pos of the users who follow `user`, newest first, behind `after`.
std::string FollowersPageSql(UserId user, const std::optional<ListCursor>& after, uint32_t limit);
// One number: how many followers of `user` a list shows up to and including `after`, at most
// `most`. It is 0 if `user` has at most `most` followers; then they are not counted.
std::string FollowersBeforeSql(UserId user, const ListCursor& after, uint32_t most);
// dst, pos of the users whom `user` follows and who follow `user`, in the order in which `user`
// followed them.
std::string FriendsPageSql(UserId user, const std::optional<ListCursor>& after, uint32_t limit);

// dst of those of `users` that `src` follows
std::string FollowedAmongSql(UserId src, std::span<const UserId> users);
// src, dst, ver, state, pos of those of `edges` that have a row
std::string ForwardRowsSql(std::span<const EdgeKey> edges);
std::string ReverseRowsSql(std::span<const EdgeKey> edges);

}  // namespace fanline::mysql
