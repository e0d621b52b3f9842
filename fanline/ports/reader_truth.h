// Reads of the truth for one reader that are acted on together. Each asks all shards it needs at
// once, and puts the replies together. Confirm then proves what all shards answered: one request
// per shard, however often it was read (docs/decisions/0023-truth-is-proved-after-it-is-read.md).
//
// With kPartly, authors whose shards do not answer are left out, and lacks() says so. A shard that
// has not answered once is not asked again, but for followees, and its proof is needed only for
// followees and items that it gave before. A read fails if no shard has answered, now or before.
// That of a reader's followees fails with the reader's shard. A read that fails, the proof among
// them, discards those before it: the next begins a new set.
//
// Passive: one read at a time. It returns the requests, and takes their replies in any order; On
// returns true with the last one. No requests: there is nobody to ask, and the read found nothing.
// Not thread-safe.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "fanline/ports/port.h"
#include "fanline/ports/reader_ports.h"

namespace fanline {

class TruthReads {
 public:
  using Request = std::variant<ReadFollowees, ReadLastAt, ReadItems, ConfirmReads>;
  using Requests = std::vector<Request>;
  enum class Answers { kWhole, kPartly };

  // `map` outlives it.
  TruthReads(const ShardMap& map, Answers answers) : map_(map), answers_(answers) {}

  Requests Followees(UserId reader);
  Requests LastAt(const std::vector<UserId>& authors);
  Requests Items(const std::vector<PostsOf>& posts, const TimeSpan& span, uint32_t limit);
  // Of all reads since the last Confirm; none: nothing was read.
  Requests Confirm();

  bool On(FolloweesRead reply);
  bool On(LastAtRead reply);
  bool On(ItemsAnswered reply);
  bool On(const ReadsConfirmed& reply);

  // Of the last read, once all its replies are there.
  const Status& status() const { return status_; }
  std::vector<UserId> TakeFollowees() { return std::move(followees_); }
  // Of the last read of followees: what FolloweesRead says of the reader.
  const std::vector<UserId>& no_reposts() const { return no_reposts_; }
  const Mutes& mutes() const { return mutes_; }
  std::vector<AuthorLastAt> TakeLastAt() { return std::move(last_at_); }
  ItemsRead TakeItems() { return std::move(items_); }

  bool lacks() const { return lacks_; }  // authors were left out, in this read or before

 private:
  Requests Begin(Requests requests);
  // `used`: followees or items. Whether the reply counts.
  bool Take(Shard shard, const Status& status, ServerId server, bool used);
  bool Ends(bool may_lack = true);

  const ShardMap& map_;
  const Answers answers_;
  std::map<Shard, ServerId> servers_;  // those that were read, by shard
  std::set<Shard> used_;               // of these, whose followees or items were taken
  std::set<Shard> lost_;               // they did not answer; with kPartly
  size_t under_way_ = 0;
  Status failed_, status_;
  bool lacks_ = false;
  std::vector<UserId> followees_, no_reposts_;
  Mutes mutes_;
  std::vector<AuthorLastAt> last_at_;
  ItemsRead items_;
};

// The same requests among others.
template <class Wide>
std::vector<Wide> Widened(const TruthReads::Requests& requests) {
  std::vector<Wide> all;
  for (const auto& request : requests) {
    std::visit([&](const auto& each) { all.emplace_back(each); }, request);
  }
  return all;
}

using TruthPort = Port<ReadFollowees, ReadLastAt, ReadItems, ConfirmReads, ReadOutbox, LookUpUser,
                       ReadMutes, ReadOriginals, FindSources>;

// The replies to a run, for a caller that steps it to its end on its own thread. One thread waits;
// any thread may reply.
template <class... Reply>
class RunReplies {
 public:
  using Any = std::variant<Reply...>;

  void Push(Any reply) {
    const std::lock_guard lock(mutex_);
    replies_.push_back(std::move(reply));
    came_.notify_one();
  }

  // Makes the requests by `submit`, and goes on until the run is done.
  template <class Run, class Submit>
  void Finish(Run& run, typename Run::Requests requests, const Submit& submit) {
    while (true) {
      for (auto& request : requests) std::visit(submit, std::move(request));
      if (run.done()) return;
      requests = std::visit(
          [&](auto&& reply) -> typename Run::Requests {
            if constexpr (requires { run.On(std::move(reply)); }) {
              return run.On(std::move(reply));
            } else {
              return {};
            }
          },
          Wait());
    }
  }

  Any Wait() {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [this] { return !replies_.empty(); });
    Any reply = std::move(replies_.front());
    replies_.pop_front();
    return reply;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<Any> replies_;  // under mutex_
};

// The truth behind one reader's timeline, for a caller that waits: feedctl and timeline::Reader.
// The first three reads may be answered by a former primary: they count once Confirm says that they
// were the truth. Calls block as long as the server's own deadlines let them; one object per
// thread.
class ReaderTruth {
 public:
  // `server` serves the requests of TruthPort. It outlives this object, and so does `map`.
  template <class Server>
  ReaderTruth(Server& server, const ShardMap& map)
      : map_(map), reads_(map, TruthReads::Answers::kWhole), port_(server, replies_) {}

  Status Followees(UserId reader, std::vector<UserId>* out);
  // Of the last reader of Followees, as TruthReads has them.
  const std::vector<UserId>& no_reposts() const { return reads_.no_reposts(); }
  const Mutes& mutes() const { return reads_.mutes(); }
  // For each of `authors` that has a row, any order.
  Status LastAt(const std::vector<UserId>& authors, std::vector<AuthorLastAt>* out);
  // Visible items of `posts` in the span, at most `limit` of each shard.
  Status Items(const std::vector<PostsOf>& posts, const TimeSpan& span, uint32_t limit,
               ItemsRead* out);
  // Whether all that was read since the last Confirm was the truth when it was read. Call it before
  // anything rests on them; done at once if nothing was read.
  Status Confirm();
  // Asks for one of the others, whose reply is the truth when it is done.
  template <class R>
  typename R::Reply Ask(R request) {
    return Ask(port_, std::move(request));
  }

  const ShardMap& map() const { return map_; }

  // For Ask and Finish.
  template <class Server>
  TimelinePort PortTo(Server& timelines) {
    return {timelines, replies_};
  }
  template <class P, class R>
  typename R::Reply Ask(const P& port, R request) {
    port.Submit(std::move(request));
    return std::get<typename R::Reply>(replies_.Wait());
  }
  // Steps a run (timeline/page_run.h) to its end.
  template <class Run>
  void Finish(Run& run, typename Run::Requests requests, const TimelinePort* timelines = nullptr) {
    replies_.Finish(run, std::move(requests), [&](auto&& request) {
      if constexpr (requires { port_.Submit(std::move(request)); }) {
        port_.Submit(std::move(request));
      } else {
        timelines->Submit(std::move(request));
      }
    });
  }

 private:
  Status Read(TruthReads::Requests requests);

  const ShardMap& map_;
  TruthReads reads_;
  RunReplies<FolloweesRead, LastAtRead, ItemsAnswered, ReadsConfirmed, OutboxRead, UserLookedUp,
             MutesRead, OriginalsRead, SourcesFound, LivePageRead, RebuildBegan, RebuildFinished,
             RebuildAbandoned>
      replies_;
  const TruthPort port_;
};

}  // namespace fanline
