// fanline::timeline - timelines as applications read them, from C++.
//
// A Reader serves pages of home timelines and makes timelines live. It steps PageRun and Rebuild
// on the caller's thread, with the truth on the shards and the live timelines in Redis. feedctl
// audit --repair uses it, and so may an application that would rather link than call:
//
//   mysql::MysqlReaderTruth truth(mysql_config, installation.shard_map);
//   redis::RedisReaderTimelines timelines(redis_options);
//   timeline::Tokens tokens;  // shared by all threads
//   timeline::Reader reader(truth, timelines, installation.window, [&] { return tokens.Next(); },
//                           installation.own_posts);
//
//   timeline::Page page;
//   Status status = reader.Home(user, {.limit = 50}, &page);            // the newest
//   status = reader.Home(user, {.limit = 50, .older_than = page.next}, &page);  // and so on
//
// Link fanline::timeline and the adapters, fanline_mysql and fanline_redis. bench/pages.cpp is a
// whole program of this kind.
//
// Each call blocks, bounded by the adapters' timeouts. One thread at a time: each thread has its
// own Reader and ports. Not done: a shard is away (Later, naming it), or there is a fault (Never).
// If Redis is away, a page does not fail: it is pulled from the shards.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "fanline/ports/reader_truth.h"
#include "timeline/page_run.h"
#include "timeline/rebuild.h"

namespace fanline::timeline {

// Why a timeline or an outbox shows nothing at all.
enum class EmptyReason { kNoSuchUser, kFollowsNobody, kNoPosts };

std::string_view NameOf(EmptyReason reason);  // "follows_nobody"

class Reader {
 public:
  // The ports outlive it. `next_token`: as in RebuildRules. `own_posts`: the installation's.
  // `timelines` serves the requests of TimelinePort.
  template <class Timelines>
  Reader(ReaderTruth& truth, Timelines& timelines, WindowLimits window,
         std::function<std::string()> next_token, bool own_posts)
      : truth_(&truth),
        timelines_(truth.PortTo(timelines)),
        rules_{window, std::move(next_token), own_posts} {}

  // A page of `reader`'s home timeline. Leaves a timeline that is not live as it is: the caller
  // decides when to Activate it.
  [[nodiscard]] Status Home(UserId reader, const PageQuery& query, Page* page);

  // Makes the reader's timeline live unless it is; *result says how it ended. However many callers
  // try, one builds the timeline and the others get kBusy. Not done: the next call may try at once,
  // unless Redis failed. `admit`, if given, is asked about a user whom no shard knows: if false, no
  // timeline is made (kNotAdmitted).
  using Admit = Rebuild::Admit;
  [[nodiscard]] Status Activate(UserId reader, RebuildResult* result, const Admit& admit = {});

 private:
  ReaderTruth* truth_;
  TimelinePort timelines_;
  RebuildRules rules_;
};

// The `own` of PageRead: the reader, if home timelines hold the reader's own posts.
inline std::optional<UserId> OwnOf(UserId reader, bool own_posts) {
  return own_posts ? std::optional(reader) : std::nullopt;
}

// Why they show nothing.
EmptyReason WhyNoTimeline(const UserFacts& of_reader);
EmptyReason WhyNoPosts(const UserFacts& of_author);

}  // namespace fanline::timeline
