#include "fanline/ports/reader_truth.h"

namespace fanline {
namespace {

// Puts a shard's items beside those of others. Only one read may be partial, so of another one the
// partial author counts as unread.
void Add(ItemsAnswered reply, ItemsRead* all) {
  ItemsRead& read = reply.read;
  if (read.partial && all->partial) {
    read.items.resize(read.items.size() - read.of_partial);
    read.unread.push_back(*read.partial);
    read.partial.reset();
  }
  // The partial author's items are the last.
  const auto at = read.partial ? all->items.end() : all->items.begin();
  all->items.insert(at, read.items.begin(), read.items.end());
  all->unread.insert(all->unread.end(), read.unread.begin(), read.unread.end());
  if (read.partial) all->partial = read.partial;
}

// One read, as a run.
struct Once {
  using Requests = TruthReads::Requests;
  TruthReads& reads;
  bool ended = false;

  bool done() const { return ended; }
  template <class Reply>
  requires requires(TruthReads& truth, Reply reply) { truth.On(std::move(reply)); }
  Requests On(Reply reply) {
    ended = reads.On(std::move(reply));
    return {};
  }
};

}  // namespace

TruthReads::Requests TruthReads::Begin(Requests requests) {
  under_way_ = requests.size();
  failed_ = status_ = {};
  followees_.clear();
  last_at_.clear();
  items_ = {};
  return requests;
}

TruthReads::Requests TruthReads::Followees(UserId reader) {
  return Begin({ReadFollowees{0, map_.ShardOf(reader), reader}});
}

TruthReads::Requests TruthReads::LastAt(const std::vector<UserId>& authors) {
  std::map<Shard, std::vector<UserId>> by_shard;
  for (const UserId author : authors) {
    const Shard shard = map_.ShardOf(author);
    if (!lost_.contains(shard)) by_shard[shard].push_back(author);
  }
  Requests requests;
  for (auto& [shard, of] : by_shard) requests.emplace_back(ReadLastAt{0, shard, std::move(of)});
  return Begin(std::move(requests));
}

TruthReads::Requests TruthReads::Items(const std::vector<PostsOf>& posts, const TimeSpan& span,
                                       uint32_t limit) {
  std::map<Shard, std::vector<PostsOf>> by_shard;
  for (const PostsOf& one : posts) {
    const Shard shard = map_.ShardOf(one.author);
    if (!lost_.contains(shard)) by_shard[shard].push_back(one);
  }
  Requests requests;
  for (auto& [shard, of] : by_shard) {
    requests.emplace_back(ReadItems{0, shard, std::move(of), span, limit});
  }
  return Begin(std::move(requests));
}

TruthReads::Requests TruthReads::Confirm() {
  Requests requests;
  for (const auto& [shard, server] : std::exchange(servers_, {})) {
    requests.emplace_back(ConfirmReads{0, shard, server});
  }
  used_.clear();
  return Begin(std::move(requests));
}

bool TruthReads::Take(Shard shard, const Status& status, ServerId server, bool used) {
  Status known = status;
  if (status.done() && servers_.try_emplace(shard, server).first->second != server) {
    known = Status::Later(ResourceOf(shard), "another server answered before");
  }
  if (known.done()) {
    if (used) used_.insert(shard);
    return true;
  }
  failed_ = known;
  if (answers_ == Answers::kPartly) {
    lost_.insert(shard);
    if (!used_.contains(shard)) servers_.erase(shard);
  }
  return false;
}

bool TruthReads::Ends(bool may_lack) {
  if (--under_way_ > 0) return false;
  const bool partly = may_lack && answers_ == Answers::kPartly && !servers_.empty();
  if (!failed_.done() && partly) lacks_ = true;
  if (!partly) status_ = failed_;
  if (!status_.done()) {
    servers_.clear();
    used_.clear();
  }
  return true;
}

bool TruthReads::On(FolloweesRead reply) {
  const bool told = Take(reply.shard, reply.status, reply.server, true);
  if (told) followees_ = std::move(reply.authors);
  if (told) no_reposts_ = std::move(reply.no_reposts);
  if (told) mutes_ = std::move(reply.mutes);
  return Ends(told);
}

bool TruthReads::On(LastAtRead reply) {
  if (Take(reply.shard, reply.status, reply.server, false)) {
    last_at_.insert(last_at_.end(), reply.authors.begin(), reply.authors.end());
  }
  return Ends();
}

bool TruthReads::On(ItemsAnswered reply) {
  if (Take(reply.shard, reply.status, reply.server, true)) Add(std::move(reply), &items_);
  return Ends();
}

bool TruthReads::On(const ReadsConfirmed& reply) {
  if (!reply.status.done()) {
    failed_ = reply.status;
    if (answers_ == Answers::kPartly) {
      lost_.insert(reply.shard);
      lacks_ = true;
    }
  }
  if (--under_way_ > 0) return false;
  status_ = failed_;
  return true;
}

Status ReaderTruth::Read(TruthReads::Requests requests) {
  Once once{reads_, requests.empty()};
  Finish(once, std::move(requests));
  return reads_.status();
}

Status ReaderTruth::Followees(UserId reader, std::vector<UserId>* out) {
  Status status = Read(reads_.Followees(reader));
  *out = reads_.TakeFollowees();
  return status;
}

Status ReaderTruth::LastAt(const std::vector<UserId>& authors, std::vector<AuthorLastAt>* out) {
  Status status = Read(reads_.LastAt(authors));
  *out = reads_.TakeLastAt();
  return status;
}

Status ReaderTruth::Items(const std::vector<PostsOf>& posts, const TimeSpan& span, uint32_t limit,
                          ItemsRead* out) {
  Status status = Read(reads_.Items(posts, span, limit));
  *out = reads_.TakeItems();
  return status;
}

Status ReaderTruth::Confirm() { return Read(reads_.Confirm()); }

}  // namespace fanline
