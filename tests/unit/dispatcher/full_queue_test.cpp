// A backlog that no send queue holds: it drains as fast as the log takes it, and next to nothing is
// sent in vain.
#include <gtest/gtest.h>

#include <deque>
#include <set>
#include <utility>

#include "fanline/model/headers.h"
#include "tests/unit/dispatcher/world.h"

namespace fanline::dispatcher {
namespace {

constexpr auto kTurn = std::chrono::milliseconds(5);
constexpr auto kGivenUpAfter = std::chrono::seconds(30);

// A producer's queue before a log that takes so many records a second, in the order they came. As
// librdkafka's, it refuses what it has no room for, and gives up what it has kept for too long.
class SendQueue {
 public:
  static constexpr size_t kRecords = 200'000, kBytes = size_t{64} << 20;

  SendQueue(World& world, size_t rate) : world_(world), rate_(rate) {}

  bool away = false;
  size_t records_taken() const { return taken_; }
  size_t records_in_vain() const { return taken_ - hints_.size(); }

  // A turn passes.
  void Turn() {
    for (AppendHints& request : std::exchange(world_.appends, {})) Queue(std::move(request));
    if (away) return GiveUp();
    credit_ += static_cast<double>(rate_) * std::chrono::duration<double>(kTurn).count();
    while (!queue_.empty() && credit_ >= 1) Take();
    if (queue_.empty()) credit_ = 0;
  }

 private:
  struct Request {
    AppendHints asked;
    size_t queued = 0, taken = 0;
    HintsAppended reply;
    Time since;
  };

  static size_t BytesOf(const AppendHints& request, size_t hint) {
    const auto& headers = request.headers[hint];
    return 64 + (headers ? fanline::BytesOf(*headers) : 0);
  }

  void Queue(AppendHints asked) {
    Request request{std::move(asked), 0, 0, {}, world_.now.mono};
    const size_t hints = request.asked.hints.size();
    for (; request.queued < hints; ++request.queued) {
      const size_t bytes = BytesOf(request.asked, request.queued);
      if (records_ >= kRecords || bytes_ + bytes > kBytes) break;
      ++records_;
      bytes_ += bytes;
    }
    const Status full = Status::Later("kafka", "the send queue is full");
    request.reply.id = request.asked.id;
    for (size_t hint = request.queued; hint < hints; ++hint) Fail(request, hint, full);
    queue_.push_back(std::move(request));
    AnswerFirst();
  }
  void Fail(Request& request, size_t hint, const Status& status) {
    request.reply.status = status;
    request.reply.failed.push_back({hint, status});
  }
  void Take() {
    Request& first = queue_.front();
    const auto& [range, hint] = first.asked.hints[first.taken];
    hints_.emplace(range, std::get<Hint::Post>(hint.what).post);
    ++taken_;
    --credit_;
    Leave(first);
    AnswerFirst();
  }
  void Leave(Request& first) {
    --records_;
    bytes_ -= BytesOf(first.asked, first.taken++);
  }
  void AnswerFirst() {
    while (!queue_.empty() && queue_.front().taken == queue_.front().queued) {
      auto& failed = queue_.front().reply.failed;
      std::sort(failed.begin(), failed.end(),
                [](const auto& a, const auto& b) { return a.hint < b.hint; });
      world_.inbox.emplace_back(std::move(queue_.front().reply));
      queue_.pop_front();
    }
  }
  void GiveUp() {
    while (!queue_.empty() && queue_.front().since + kGivenUpAfter <= world_.now.mono) {
      Request& first = queue_.front();
      while (first.taken < first.queued) {
        Fail(first, first.taken, Status::Later("kafka", "not acknowledged in time"));
        Leave(first);
      }
      AnswerFirst();
    }
  }

  World& world_;
  const size_t rate_;
  double credit_ = 0;
  std::deque<Request> queue_;
  size_t records_ = 0, bytes_ = 0, taken_ = 0;
  std::set<std::pair<Range, PostId>> hints_;
};

struct Load {
  const char* name;
  uint32_t ranges;
  size_t rate;                   // records a second that the log takes
  size_t seconds;                // of such a rate: what has to be appended
  std::chrono::seconds away{0};  // at first
  size_t header_bytes = 0;
};

class AFullQueue : public ::testing::TestWithParam<Load> {};

// Hands over all of the backlog that the dispatcher takes.
void Feed(World& w, uint64_t& next, uint64_t events, const Headers& headers) {
  for (int i = 0; i < 512 && next <= events && w.paused == w.resumed; ++i, ++next) {
    w.Give(Published(PostId{next}), headers);
  }
}

TEST_P(AFullQueue, IsWaitedForInOrderAndNothingIsSentTwice) {
  const Load& load = GetParam();
  World w({}, load.ranges);
  SendQueue queue(w, load.rate);
  Headers headers;
  if (load.header_bytes > 0) headers = {{"tracestate", std::string(load.header_bytes, 't')}};
  const uint64_t events = load.rate * load.seconds / load.ranges;
  uint64_t next = 1;
  const auto turn = [&] {
    Feed(w, next, events, headers);
    w.Step();
    w.Store();
    queue.Turn();
    w.Pass(kTurn);
  };
  queue.away = true;
  for (const Time until = w.now.mono + load.away; w.now.mono < until;) turn();
  queue.away = false;
  const Time begin = w.now.mono;
  const auto ideal = std::chrono::seconds(load.seconds);
  while (w.committed < static_cast<int64_t>(events) && w.now.mono < begin + 3 * ideal) turn();

  EXPECT_EQ(w.committed, static_cast<int64_t>(events));
  EXPECT_LE(w.now.mono - begin, ideal / 0.9) << "in us";
  EXPECT_EQ(queue.records_taken() - queue.records_in_vain(), events * load.ranges);
  EXPECT_LE(queue.records_in_vain(), queue.records_taken() / 100);
}

INSTANTIATE_TEST_SUITE_P(
    Dispatcher, AFullQueue,
    ::testing::Values(Load{"Ranges1024", 1024, 200'000, 10}, Load{"Ranges256", 256, 100'000, 10},
                      Load{"Ranges64", 64, 100'000, 10},
                      Load{"AwayFor40Seconds", 64, 100'000, 10, std::chrono::seconds(40)},
                      Load{"LargeHeaders", 16, 5'000, 10, std::chrono::seconds(0), 4'000}),
    [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace fanline::dispatcher
