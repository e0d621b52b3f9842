// How a batch of events becomes rows of `author_post` and `author`: the sticky rule of
// fanline/model/post_state.h, in SQL. Pure text; post_store runs the transaction.
//
// ApplyEvent first folds the events of one post into one row, starting from an unknown post. The
// statement then merges that row into the stored one by the same rule. So there is one statement
// for all kinds of events, and every transaction takes its locks in the same order.
#pragma once

#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/mysql/posts/post_rows.h"
#include "fanline/model/event.h"
#include "fanline/model/post_state.h"

namespace fanline::mysql {

using PostChange = std::pair<PostKey, PostState>;
using AuthorTime = std::pair<UserId, UnixMs>;

// Each post once, in primary key order. Posts of the authors `pull` are merged at read if their
// rows are new.
std::vector<PostChange> FoldEvents(std::span<const FeedEvent> events,
                                   const std::set<UserId>& pull = {});

// The newest created_at of each author with published events, in primary key order.
std::vector<AuthorTime> NewestPublished(std::span<const FeedEvent> events);

using RepostKey = std::pair<PostId, PostKey>;  // an original, and who reposted it by which post

// In primary key order.
std::vector<RepostKey> RepostsAmong(std::span<const PostChange> changes);

std::string AddRepostsSql(std::span<const RepostKey> reposts);
std::string MergePostsSql(std::span<const PostChange> changes);
std::string GrowLastAtSql(std::span<const AuthorTime> times);

}  // namespace fanline::mysql
