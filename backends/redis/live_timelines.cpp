#include "backends/redis/live_timelines.h"

#include <set>

#include "backends/redis/client/errors.h"
#include "fanline/base/mono_now.h"

namespace fanline::redis {
namespace {

using namespace std::chrono_literals;

template <class R>
Range RangeOf(const R& request, const RangeLayout& layout) {
  if constexpr (std::is_same_v<R, MarkPart>) {
    return layout.RangeOf(request.author);
  } else {
    return request.range;
  }
}

constexpr auto kLeast = 50ms;  // between two looks for the map, however many doubts
// While a range is not served or nobody answers: a failover takes a second or two.
constexpr Backoff kUneasy{100ms, 500ms};

}  // namespace

RedisLiveTimelines::RedisLiveTimelines(const Options& options, LogSink log, Events events)
    : options_(options),
      layout_(options.partitions),
      log_(std::move(log)),
      events_(std::move(events)),
      homes_(options.partitions),
      migrations_(options.slot_left_after),
      masters_(options),
      random_(std::random_device{}()) {
  thread_ = std::thread([this] { Run(); });
}

RedisLiveTimelines::~RedisLiveTimelines() {
  {
    const std::lock_guard lock(wake_mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
  nodes_.clear();  // until then they may call Doubt()
}

// ---- requests -------------------------------------------------------------------------------

void RedisLiveTimelines::Take(Submission submission) {
  const auto range =
      std::visit([this](const auto& of) { return RangeOf(of.request, layout_); }, submission);
  std::string why;
  bool needs_claim = false;
  {
    const std::lock_guard lock(mutex_);
    const Home& home = homes_.at(static_cast<size_t>(range));
    if (home.node != nullptr && home.node->Submit(submission, home.residence)) return;
    needs_claim = home.node == nullptr;
    why = needs_claim ? why_nobody_ : "too many requests are waiting";
  }
  const auto refuse = [&]<class R>(const Submitted<R>& of) {  // unlocked: it may submit again
    of.to(Failed<R>(of.request.id, Away(why), needs_claim));
  };
  std::visit(refuse, submission);
}

// ---- the map --------------------------------------------------------------------------------

void RedisLiveTimelines::Doubt() {
  {
    const std::lock_guard lock(wake_mutex_);
    doubted_ = true;
  }
  wake_.notify_all();
}

void RedisLiveTimelines::Run() {
  uint32_t uneasy = 0;
  std::unique_lock lock(wake_mutex_);
  while (!stopping_) {
    doubted_ = false;
    lock.unlock();
    uneasy = AskForMap() ? 0 : uneasy + 1;
    const Backoff pace =
        uneasy > 0 ? kUneasy : Backoff{Duration(options_.map_every), Duration(options_.map_every)};
    const Duration pause = pace.Delay(uneasy, random_());
    lock.lock();
    wake_.wait_for(lock, kLeast, [this] { return stopping_; });
    wake_.wait_for(lock, pause, [this] { return stopping_ || doubted_; });
  }
}

bool RedisLiveTimelines::AskForMap() {
  const Status status = masters_.Refresh(Masters::Ask::kAll);
  if (status.done()) return TakeMap(masters_.map());
  HearNobody(status.message);
  return false;
}

bool RedisLiveTimelines::TakeMap(const SlotMap& map) {
  Nodes retired;
  {
    const std::lock_guard reporting(report_mutex_);
    const std::lock_guard lock(mutex_);
    retired = Settle(map);
  }
  for (const auto& [address, node] : retired) node->Retire();
  Watch(map);
  const std::lock_guard reporting(report_mutex_);
  return Tell();
}

// Assigns every range the node that the map names. Returns the nodes that serve none any more.
RedisLiveTimelines::Nodes RedisLiveTimelines::Settle(const SlotMap& map) {
  size_t moved = 0;
  std::set<const Node*> used;
  for (Range range = 0; range < static_cast<Range>(homes_.size()); ++range) {
    const Endpoint* master = map.MasterOf(layout_.First(range));
    Node* node = master == nullptr ? nullptr : NodeAt(*master);
    if (node == nullptr) {
      const std::string slot = std::to_string(SlotOf(layout_.First(range)));
      why_nobody_ = "redis: no node of the cluster serves slot " + slot;
    }
    used.insert(node);
    Home& home = homes_[static_cast<size_t>(range)];
    if (home.node == node) continue;
    home = {node, node == nullptr ? "" : ToString(*master), ++residences_};
    ++moved;
  }
  Nodes retired;
  for (auto at = nodes_.begin(); at != nodes_.end();) {
    const auto current = at++;
    if (used.contains(current->second.get())) continue;
    why_not_.erase(current->first);
    retired.insert(nodes_.extract(current));
  }
  if (moved > 0) {
    Log(LogLevel::kInfo, "redis: " + std::to_string(moved) + " ranges came to another node; " +
                             std::to_string(nodes_.size()) + " nodes serve them now");
  }
  return retired;
}

Node* RedisLiveTimelines::NodeAt(const Endpoint& address) {
  const std::string name = ToString(address);
  auto& node = nodes_[name];
  if (!node) {
    why_not_[name] = "";
    node = std::make_unique<Node>(
        options_.At(address), ++numbers_,
        Node::Events{[this, name](bool connected, const std::string& why_not) {
                       Hear(name, connected, why_not);
                     },
                     [this] { Doubt(); }},
        log_);
  }
  return node.get();
}

void RedisLiveTimelines::Watch(const SlotMap& map) {
  std::vector<OpenSlot> ours;
  for (const OpenSlot& open : map.open()) {
    const Bucket bucket = BucketAt(open.slot);
    if (layout_.First(layout_.RangeOf(bucket)) == bucket) ours.push_back(open);
  }
  for (const OpenSlot& left : migrations_.Look(ours, MonoNow())) {
    Log(LogLevel::kWarn,
        "redis: slot " + std::to_string(left.slot) + " of range " +
            std::to_string(layout_.RangeOf(BucketAt(left.slot))) +
            " is left half-way between two nodes, and what its range cannot write waits. If nobody "
            "is moving it, type: redis-cli --cluster fix " +
            ToString(left.from.port == 0 ? left.to : left.from));
  }
  if (events_.on_left_migrating) events_.on_left_migrating(migrations_.left());
}

void RedisLiveTimelines::HearNobody(const std::string& why) {
  const std::lock_guard reporting(report_mutex_);
  {
    const std::lock_guard lock(mutex_);
    if (!nodes_.empty()) return;  // their own states tell
    if (why_nobody_ == why) return;
    why_nobody_ = why;
  }
  Log(LogLevel::kWarn, why);
  Tell();
}

// ---- the state ------------------------------------------------------------------------------

void RedisLiveTimelines::Hear(const std::string& node, bool connected, const std::string& why_not) {
  const std::lock_guard reporting(report_mutex_);
  {
    const std::lock_guard lock(mutex_);
    if (!nodes_.contains(node)) return;  // it is being retired
  }
  connected ? (void)why_not_.erase(node) : (void)(why_not_[node] = why_not);
  Tell();
}

std::vector<RangesAway> RedisLiveTimelines::AllAway() {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::vector<Range>> by_reason;
  for (size_t range = 0; range < homes_.size(); ++range) {
    const Home& home = homes_[range];
    const auto found = why_not_.find(home.address);
    if (home.node != nullptr && found == why_not_.end()) continue;
    by_reason[home.node == nullptr ? why_nobody_ : found->second].push_back(
        static_cast<Range>(range));
  }
  std::vector<RangesAway> away;
  for (auto& [reason, ranges] : by_reason) away.push_back({reason, std::move(ranges)});
  return away;
}

bool RedisLiveTimelines::Tell() {
  std::vector<RangesAway> now = AllAway();
  const bool whole = now.empty();
  std::erase_if(now, [](const RangesAway& away) { return away.reason.empty(); });
  const bool unknown = !whole && now.empty();
  if (unknown || now == reported_) return whole;
  reported_ = std::move(now);
  if (events_.on_away) events_.on_away(*reported_);
  return whole;
}

}  // namespace fanline::redis
