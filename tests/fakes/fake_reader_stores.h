// The blocking ports of the reading side on the in-memory stores. Fail on demand, and count.
// Several threads may call the ports at once; public members may be used between calls.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fanline/ports/reader_ports.h"
#include "tests/fakes/fake_mysql.h"
#include "tests/fakes/fake_redis.h"

namespace fanline::fakes {

class FakeReaderStores : public ReaderTruth, public ReaderTimelines {
 public:
  FakeReaderStores(RangeLayout layout, WindowLimits window)
      : mysql(layout, 1'000), redis(layout, window) {}

  FakeMysql mysql;
  FakeRedis redis;
  Status mysql_fails = Status::Done(), redis_fails = Status::Done();
  Status confirm_fails = Status::Done();  // of anything that was read
  std::function<void()> on_read;          // of items, after it
  std::function<UnixMs()> as_of;          // of every range; none: as pos: says
  size_t authors_read = 0;
  size_t looks = 0;      // reads of when authors last posted
  size_t reads = 0;      // of items
  size_t most_read = 0;  // rows of the largest read
  size_t calls = 0;      // of the truth, of any kind

  Status Followees(UserId reader, std::vector<UserId>* out) override {
    return Unconfirmed([&] { *out = mysql.Followees(reader); });
  }
  Status LastAt(const std::vector<UserId>& authors, std::vector<AuthorLastAt>* out) override {
    if (++looks > 100'000) throw std::runtime_error("the pull does not end");
    return Unconfirmed([&] { *out = mysql.LastAt(authors); });
  }
  Status Items(const std::vector<PostsOf>& posts, const TimeSpan& span, uint32_t limit,
               ItemsRead* out) override {
    if (limit == 0) throw std::invalid_argument("who reads no items reads for ever");
    const Status status = Unconfirmed([&] {
      ++reads;
      authors_read += posts.size();
      *out = mysql.Items(posts, span, limit);
      most_read = std::max(most_read, out->items.size());
    });
    if (on_read) on_read();
    return status;
  }
  Status Confirm() override {
    const std::lock_guard lock(mutex_);
    unconfirmed_ = false;
    if (std::exchange(lost_, false)) return Status::Later("mysql_0", "the connection was lost");
    return confirm_fails;
  }
  void ForgetReads() override {
    const std::lock_guard lock(mutex_);
    unconfirmed_ = lost_ = false;
  }
  // What was read and not confirmed yet never will be.
  void LoseConnections() { lost_ = unconfirmed_; }
  bool unconfirmed() const { return unconfirmed_; }
  Status Outbox(UserId author, const TimeSpan& span, uint32_t limit,
                std::vector<Item>* out) override {
    return Truth([&] { *out = mysql.Outbox(author, span, limit); });
  }
  Status LookUp(UserId user, UserFacts* out) override {
    return Truth([&] { *out = mysql.LookUp(user); });
  }

  Status Begin(UserId reader, const std::string& token, RebuildBegun* begun) override {
    if (redis.full) return Status::Later("redis", "OOM");
    return Timelines([&] { *begun = redis.Begin(reader, token, 1); });
  }
  Status Finish(UserId reader, const std::string& token, const std::vector<Item>& items,
                Floor floor, const std::vector<UserId>& marked, bool* applied) override {
    return Timelines([&] { *applied = redis.Finish(reader, token, items, floor, marked); });
  }
  Status Abandon(UserId reader, const std::string& token) override {
    return Timelines([&] { redis.Abandon(reader, token); });
  }
  Status Read(UserId reader, const std::optional<Position>& after, uint32_t limit,
              ReaderTimelines::Page* page) override {
    return Timelines([&] {
      *page = redis.Read(reader, after, limit);
      if (as_of) page->as_of = as_of();
    });
  }

 private:
  template <typename Call>
  Status Truth(const Call& call) {
    const std::lock_guard lock(mutex_);
    ++calls;
    if (mysql_fails.done()) call();
    return mysql_fails;
  }
  template <typename Call>
  Status Unconfirmed(const Call& call) {
    const Status status = Truth(call);
    const std::lock_guard lock(mutex_);
    unconfirmed_ = status.done();
    lost_ = lost_ && status.done();
    return status;
  }
  template <typename Call>
  Status Timelines(const Call& call) {
    const std::lock_guard lock(mutex_);
    if (redis_fails.done()) call();
    return redis_fails;
  }

  std::mutex mutex_;
  bool unconfirmed_ = false, lost_ = false;
};

// For owners that each want a port.
struct TruthOf : ReaderTruth {
  explicit TruthOf(ReaderTruth& shared) : truth(shared) {}
  Status Followees(UserId reader, std::vector<UserId>* out) override {
    return truth.Followees(reader, out);
  }
  Status LastAt(const std::vector<UserId>& authors, std::vector<AuthorLastAt>* out) override {
    return truth.LastAt(authors, out);
  }
  Status Items(const std::vector<PostsOf>& posts, const TimeSpan& span, uint32_t limit,
               ItemsRead* out) override {
    return truth.Items(posts, span, limit, out);
  }
  Status Outbox(UserId author, const TimeSpan& span, uint32_t limit,
                std::vector<Item>* out) override {
    return truth.Outbox(author, span, limit, out);
  }
  Status Confirm() override { return truth.Confirm(); }
  void ForgetReads() override { truth.ForgetReads(); }
  Status LookUp(UserId user, UserFacts* out) override { return truth.LookUp(user, out); }
  ReaderTruth& truth;
};

struct TimelinesOf : ReaderTimelines {
  explicit TimelinesOf(ReaderTimelines& shared) : timelines(shared) {}
  Status Begin(UserId reader, const std::string& token, RebuildBegun* begun) override {
    return timelines.Begin(reader, token, begun);
  }
  Status Finish(UserId reader, const std::string& token, const std::vector<Item>& items,
                Floor floor, const std::vector<UserId>& marked, bool* applied) override {
    return timelines.Finish(reader, token, items, floor, marked, applied);
  }
  Status Abandon(UserId reader, const std::string& token) override {
    return timelines.Abandon(reader, token);
  }
  Status Read(UserId reader, const std::optional<Position>& after, uint32_t limit,
              Page* page) override {
    return timelines.Read(reader, after, limit, page);
  }
  ReaderTimelines& timelines;
};

}  // namespace fanline::fakes
