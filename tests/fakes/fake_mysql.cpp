#include "tests/fakes/fake_mysql.h"

#include <algorithm>
#include <tuple>

namespace fanline::fakes {

// ---- posts ----------------------------------------------------------------------------------

// True when the row changed.
bool FakeMysql::Apply(const FeedEvent& event) {
  const auto key = std::make_pair(event.author, event.post);
  const bool known = posts_.contains(key);
  if (event.kind == EventKind::kDeleted && !known && !rules.sticky_tombstones) return false;
  PostState& state = posts_[key];
  if (!known || !rules.pushed_once) state.pushed = !ModeOf(event.author).pull;
  const PostState before = state;
  if (!rules.versions && (event.kind == EventKind::kHidden || event.kind == EventKind::kUnhidden)) {
    state.hidden = event.kind == EventKind::kHidden;
  } else {
    ApplyEvent(event, state);
    const bool again = event.kind == EventKind::kPublished && !rules.original_once;
    if (again) state.original = event.repost_of;
  }
  return !known || before.created_at != state.created_at || before.deleted != state.deleted ||
         before.hidden != state.hidden || before.edit_version != state.edit_version ||
         before.visibility_version != state.visibility_version;
}

EventsApplied FakeMysql::Do(const ApplyEvents& request) {
  EventsApplied applied = Commit(request);
  ReadFollowers(request, relations.reverse(), applied);
  return applied;
}

void FakeMysql::ReadFollowers(const ApplyEvents& request, const FakeRelations::Edges& reverse,
                              EventsApplied& applied) const {
  for (size_t i = 0; i < applied.applied.size(); ++i) {
    EventsApplied::Applied& each = applied.applied[i];
    if (request.most_followers == 0 || each.followers > request.most_followers) continue;
    each.buckets.emplace();
    if (each.followers == 0 && !rules.counters_only_choose) continue;
    each.buckets = FollowerBuckets(request.events[i].author, request.most_followers, reverse);
  }
}

// Reads at most one row more than `most`; nothing if there are more than `most`.
std::optional<std::vector<Bucket>> FakeMysql::FollowerBuckets(
    UserId author, uint32_t most, const FakeRelations::Edges& reverse) const {
  std::set<std::pair<UnixMs, UserId>> followers;  // in the order of the index
  for (const auto& [edge, row] : reverse) {
    if (edge.dst == author && row.live) followers.emplace(row.pos, edge.src);
  }
  if (followers.size() > most && rules.met_limit_is_all) return std::nullopt;
  std::vector<Bucket> buckets;
  for (const auto& [pos, reader] : followers) {
    if (buckets.size() <= most) buckets.push_back(BucketOf(reader));
  }
  std::sort(buckets.begin(), buckets.end());
  buckets.erase(std::unique(buckets.begin(), buckets.end()), buckets.end());
  return buckets;
}

EventsApplied FakeMysql::Commit(const ApplyEvents& request) {
  EventsApplied applied{request.id, Status::Done(), {}};
  for (const FeedEvent& event : request.events) {
    const bool changed = Apply(event);
    if (event.kind == EventKind::kPublished) {
      UnixMs& last_at = last_at_[event.author];
      last_at = rules.last_at_grows ? std::max(last_at, event.created_at) : event.created_at;
    }
    uint64_t followers = 0;
    for (const auto& [edge, row] : relations.reverse())
      followers += edge.dst == event.author && row.live;
    const bool pushed = posts_[{event.author, event.post}].pushed;
    AuthorMode mode = ModeOf(event.author);
    const bool emits = changed || rules.hint_on_every_apply;
    if (!emits) mode.announced = Duration::zero();
    applied.applied.push_back({pushed && emits, mode, followers});
  }
  return applied;
}

ShownRead FakeMysql::Do(const ReadShown& request) const {
  ShownRead reply{.id = request.id, .shard = request.shard, .status = {}};
  for (const PostKey& post : request.posts) {
    const auto found = posts_.find(post);
    const bool repost = found != posts_.end() && found->second.original;
    if (repost) reply.shown[post] = found->second.original;
  }
  return reply;
}

void FakeMysql::SetMode(UserId author, bool pull) {
  if (!modes_.contains(author)) modes_[author].since = relations.now;
  modes_[author].by_hand = true;
  Switch(author, pull);
}

void FakeMysql::LeaveMode(UserId author) {
  const auto found = modes_.find(author);
  if (found == modes_.end()) return;
  found->second.by_hand = false;
  ++found->second.version;
}

void FakeMysql::Switch(UserId author, bool pull) {
  Mode& mode = modes_[author];
  if (mode.pull != pull) mode.since = relations.now;
  mode.pull = pull;
  mode.marked = pull || (mode.marked && rules.marked_for_good);
  ++mode.version;
}

AuthorSwitched FakeMysql::Do(const SwitchAuthor& request) {
  AuthorSwitched reply{request.id, Status::Done()};
  const auto found = modes_.find(request.author);
  if (found == modes_.end()) return reply;
  Mode& mode = found->second;
  if (mode.version != request.version && rules.switch_of_version) return reply;
  const bool marked = mode.marked;
  Switch(request.author, request.pull);
  if (!rules.switches_mark) mode.marked = marked;
  reply.switched = true;
  return reply;
}

AuthorWeighed FakeMysql::Do(const WeighAuthor& request) {
  Mode& mode = modes_[request.author];
  mode.weight = {.live = request.live, .lag = request.lag};
  mode.weighed = relations.now;
  return {request.id, Status::Done()};
}

AuthorMode FakeMysql::ModeOf(UserId author) const {
  const auto found = modes_.find(author);
  if (found == modes_.end()) return {};
  const Mode& at = found->second;
  AuthorMode mode{at.pull, at.marked, {}, at.by_hand, at.version};
  if (at.announced) mode.announced = std::chrono::milliseconds(relations.now - *at.announced);
  mode.since = std::chrono::milliseconds(relations.now - at.since);
  if (!at.weighed) return mode;
  mode.weight = at.weight;
  mode.weight.age = std::chrono::milliseconds(relations.now - *at.weighed);
  return mode;
}

AuthorAnnounced FakeMysql::Do(const AnnounceAuthor& request) {
  const auto found = modes_.find(request.author);
  if (found != modes_.end()) found->second.announced = relations.now;
  return {request.id, Status::Done()};
}

bool FakeMysql::IsMarked(UserId author) const {
  const auto found = modes_.find(author);
  return found != modes_.end() && found->second.marked;
}

std::vector<Item> FakeMysql::Visible(const PostsOf& posts) const {
  std::vector<Item> items;
  for (auto at = posts_.lower_bound({posts.author, PostId{}}); at != posts_.end(); ++at) {
    if (at->first.first != posts.author) break;
    if (at->second.visible() && at->second.pushed == posts.pushed) {
      items.push_back(
          {at->first.second, *at->second.created_at, posts.author, at->second.original});
    }
  }
  std::sort(items.begin(), items.end(), IsNewer);
  return items;
}

void FakeMysql::LosePosts(Shard shard, const FakeMysql& replica) {
  const auto of_shard = [&](UserId author) { return shards_.ShardOf(author) == shard; };
  std::erase_if(posts_, [&](const auto& each) { return of_shard(each.first.first); });
  std::erase_if(last_at_, [&](const auto& each) { return of_shard(each.first); });
  for (const auto& each : replica.posts_) {
    if (of_shard(each.first.first)) posts_.insert(each);
  }
  for (const auto& each : replica.last_at_) {
    if (of_shard(each.first)) last_at_.insert(each);
  }
}

// ---- what a pusher reads --------------------------------------------------------------------

PostStates FakeMysql::Do(const ReadPostStates& request) const {
  PostStates states{.id = request.id};
  for (const PostKey& post : request.posts) {
    const auto found = posts_.find(post);
    states.posts.push_back(found == posts_.end() ? PostState{} : found->second);
  }
  return states;
}

FollowerPage FakeMysql::Do(const ReadFollowerPage& request) const {
  FollowerPage page{.id = request.id};
  std::vector<FollowerCursor> followers;
  for (const auto& [edge, row] : relations.reverse()) {
    const bool brings = rules.muted_not_pushed ? row.brings() : row.live;
    if (edge.dst != request.author || !brings) continue;
    const Bucket bucket = BucketOf(edge.src);
    if (layout_.RangeOf(bucket) == request.range) followers.push_back({bucket, edge.src});
  }
  const auto chose = [&](UserId reader) {
    const Delivery delivery = relations.reverse().at({reader, request.author}).delivery;
    return delivery == Delivery::kNoReposts && rules.no_reposts_not_pushed;
  };
  const auto before = [](const FollowerCursor& a, const FollowerCursor& b) {
    return std::pair(a.bucket, a.reader) < std::pair(b.bucket, b.reader);
  };
  std::sort(followers.begin(), followers.end(), before);
  auto at = request.after
                ? std::upper_bound(followers.begin(), followers.end(), *request.after, before)
                : followers.begin();
  const size_t limit = std::min(request.limit, page_limit_);
  for (; at != followers.end() && page.followers.size() < limit; ++at) {
    page.followers.push_back(at->reader);
    if (chose(at->reader)) page.no_reposts.push_back(at->reader);
    if (page.followers.size() == limit && at + 1 != followers.end()) page.next = *at;
  }
  return page;
}

SyncTruth FakeMysql::Do(const ReadSync& request) const {
  SyncTruth truth{.id = request.id};
  const auto edge = relations.reverse().find({request.reader, request.author});
  truth.following = edge != relations.reverse().end() &&
                    (rules.muted_not_synced ? edge->second.brings() : edge->second.live);
  truth.no_reposts = truth.following && rules.no_reposts_not_synced &&
                     edge->second.delivery == Delivery::kNoReposts;
  if (request.window == 0) return truth;
  if (!truth.following) return truth;
  truth.marked = IsMarked(request.author) && rules.marks_synced;
  truth.visible = Visible({request.author, true});
  if (truth.no_reposts)
    std::erase_if(truth.visible, [](const Item& item) { return item.original; });
  if (truth.visible.size() > request.window) {
    truth.newest_unread = truth.visible[request.window].created_at;
    truth.visible.resize(request.window);
  }
  return truth;
}

MutesRead FakeMysql::Do(const ReadMutes& request) const {
  return {request.id, request.shard, {}, relations.mutes(request.reader)};
}

// ---- owners ---------------------------------------------------------------------------------

RangeOwned FakeMysql::Found(Owner& owner, uint64_t id, uint64_t start) {
  const auto own = owner.starts.find(start);
  const auto others = owner.starts.size() - (own != owner.starts.end() ? 1 : 0);
  if (own != owner.starts.end() && others < kSuspicious) own->second.hint = -1;
  return {.id = id, .status = {}, .epoch = owner.epoch, .crashes = static_cast<uint32_t>(others)};
}

RangeOwned FakeMysql::Do(const AcquireRange& request) {
  Owner& owner = owners_[request.range];
  owner.starts[request.start].epoch = ++owner.epoch;
  return Found(owner, request.id, request.start);
}

RangeOwned FakeMysql::Do(const RaiseEpoch& request) {
  Owner& owner = owners_[request.range];
  owner.epoch = std::max(owner.epoch, request.above) + 1;
  const auto own = owner.starts.find(request.start);
  if (own != owner.starts.end()) own->second.hint = -1;
  return Found(owner, request.id, request.start);
}

RangeOwned FakeMysql::Do(const SaveStart& request) {
  Owner& owner = owners_[request.range];
  const bool refused = owner.epoch != request.epoch;
  const auto own = owner.starts.find(request.start);
  if (!refused && own != owner.starts.end()) own->second.hint = request.offset;
  RangeOwned found = Found(owner, request.id, request.start);
  found.refused = refused;
  for (const auto& [token, start] : owner.starts) {
    found.suspected |=
        token != request.start && request.offset >= 0 && start.hint == request.offset;
  }
  return found;
}

RangeOwned FakeMysql::Do(const SettleRange& request) {
  Owner& owner = owners_[request.range];
  std::erase_if(owner.starts, [&](const auto& entry) {
    const bool own = entry.first == request.start;
    return own ? request.ended : entry.second.epoch <= request.lasted;
  });
  return Found(owner, request.id, request.start);
}

// ---- relations ------------------------------------------------------------------------------

uint64_t FakeMysql::WriteForward(UserId src, UserId dst, bool live) {
  const auto unix_us = static_cast<uint64_t>(relations.now) * 1000;
  const EdgeChanged reply = relations.Do(ChangeEdge{0, {src, dst, live, unix_us}});
  return reply.forward.changed ? reply.forward.edge.ver : 0;
}

void FakeMysql::ApplyReverse(UserId src, UserId dst, uint64_t version, bool live) {
  relations.Do(ApplyEdges{0, 0, {Edge{src, dst, version, live, relations.now}}});
}

// ---- the reading side -----------------------------------------------------------------------

std::vector<UserId> FakeMysql::Followees(UserId reader) const {
  std::vector<UserId> authors;
  for (const auto& [edge, row] : relations.forward()) {
    const bool brings = rules.muted_not_read ? row.brings() : row.live;
    if (edge.src == reader && brings) authors.push_back(edge.dst);
  }
  return authors;
}

std::vector<UserId> FakeMysql::NoReposts(UserId reader) const {
  std::vector<UserId> authors;
  for (const auto& [edge, row] : relations.forward()) {
    const bool chosen = row.brings() && row.delivery == Delivery::kNoReposts;
    if (edge.src == reader && chosen && rules.no_reposts_read) authors.push_back(edge.dst);
  }
  return authors;
}

std::vector<AuthorLastAt> FakeMysql::LastAt(const std::vector<UserId>& authors) const {
  std::vector<AuthorLastAt> out;
  for (UserId author : authors) {
    const auto found = last_at_.find(author);
    if (found == last_at_.end()) continue;
    const AuthorMode mode = ModeOf(author);
    out.push_back({author, found->second, mode.marked, mode.announced.has_value()});
  }
  return out;
}

namespace {

bool IsWithin(const TimeSpan& span, const Item& item) {
  const auto& [above, up_to, behind] = span;
  if (above && item.created_at <= *above) return false;
  if (up_to && item.created_at > *up_to) return false;
  return !behind || IsNewer({behind->post, behind->created_at}, item);
}

}  // namespace

ItemsRead FakeMysql::Items(const std::vector<PostsOf>& posts, const TimeSpan& span,
                           uint32_t limit) const {
  ItemsRead out;
  std::vector<PostsOf> in_order = posts;  // as the index has them
  std::sort(in_order.begin(), in_order.end(), [](const PostsOf& a, const PostsOf& b) {
    const auto order = [](const PostsOf& of) {
      return std::tuple(!of.pushed, !of.reposts, of.author);
    };
    return order(a) < order(b);
  });
  for (const PostsOf& one : in_order) {
    if (out.items.size() >= limit) {
      out.unread.push_back(one);
      continue;
    }
    size_t of_one = 0;
    for (const Item& item : Visible(one)) {
      if (!IsWithin(span, item) || (item.original && !one.reposts)) continue;
      out.items.push_back(item);
      ++of_one;
      if (out.items.size() < limit) continue;
      out.partial = one;
      out.of_partial = of_one;
      break;
    }
  }
  return out;
}

std::vector<Item> FakeMysql::Outbox(UserId author, const TimeSpan& span, uint32_t limit) const {
  std::vector<Item> items = Visible({author, true});
  const std::vector<Item> beside = Visible({author, false});
  items.insert(items.end(), beside.begin(), beside.end());
  std::sort(items.begin(), items.end(), IsNewer);
  std::erase_if(items, [&](const Item& item) { return !IsWithin(span, item); });
  if (items.size() > limit) items.resize(limit);
  return items;
}

// As if a user had one row of `repost` for each that is a repost of it.
RepostersRead FakeMysql::Do(const ReadReposters& request) const {
  RepostersRead reply{.id = request.id, .shard = request.shard, .status = {}};
  const auto original = posts_.find(request.original.key());
  const bool here = shards_.ShardOf(request.original.author) == request.shard;
  if (here && original != posts_.end()) reply.state = original->second;
  std::map<UserId, UnixMs> newest, all;
  uint32_t rows = 0, counted = 0;
  for (const auto& [key, state] : posts_) {
    if (shards_.ShardOf(key.first) != request.shard) continue;
    if (state.original.post != request.original.post) continue;
    const bool shown = state.visible() && state.original == request.original;
    if (counted++ < request.counted && shown) all[key.first] = 1;
    if (request.after && key.first <= *request.after) continue;
    if (rows >= request.rows) continue;
    ++rows;
    UnixMs& at = newest[key.first];
    if (shown) at = std::max(at, *state.created_at);
  }
  if (rows >= request.rows && !newest.empty()) {
    if (newest.size() > 1) newest.erase(std::prev(newest.end()));
    reply.next = newest.rbegin()->first;
  }
  for (const auto& [user, at] : newest) {
    if (at > 0) reply.users.push_back({user, at});
  }
  if (request.counted == 0) return reply;
  reply.count = all.size();
  reply.more = counted >= request.counted;
  return reply;
}

RepostsByRead FakeMysql::Do(const ReadRepostsBy& request) const {
  RepostsByRead reply{.id = request.id, .shard = request.shard, .status = {}};
  for (auto at = posts_.lower_bound({request.user, PostId{}}); at != posts_.end(); ++at) {
    if (at->first.first != request.user || reply.posts.size() == request.limit) break;
    const bool shows = at->second.original.post == request.original;
    if (shows && !at->second.deleted) reply.posts.push_back(at->first.second);
  }
  return reply;
}

std::vector<std::optional<PostState>> FakeMysql::Originals(
    const std::vector<Original>& originals) const {
  std::vector<std::optional<PostState>> states;
  for (const Original& original : originals) {
    const auto found = posts_.find(original.key());
    states.emplace_back(found == posts_.end() ? PostState() : found->second);
  }
  return states;
}

std::vector<Original> FakeMysql::Sources(const FindSources& request) const {
  const Item place{request.in_front_of.post, request.in_front_of.created_at};
  std::vector<Original> found;
  for (const Original& original : request.originals) {
    const bool any = std::any_of(posts_.begin(), posts_.end(), [&](const auto& each) {
      const auto& [key, state] = each;
      return state.visible() && state.original == original &&
             std::binary_search(request.by.begin(), request.by.end(), key.first) &&
             !IsNewer(place, Item{key.second, *state.created_at});
    });
    if (any) found.push_back(original);
  }
  return found;
}

UserFacts FakeMysql::LookUp(UserId user) const {
  UserFacts facts{.known = last_at_.contains(user), .follows = false};
  for (const auto& [edge, row] : relations.forward()) {
    facts.known |= edge.src == user;
    facts.follows |= edge.src == user && row.live;
  }
  for (const auto& [edge, row] : relations.reverse()) facts.known |= edge.dst == user;
  return facts;
}

}  // namespace fanline::fakes
