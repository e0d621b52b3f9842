#include "mirror/mirror.h"

#include <algorithm>
#include <limits>

#include "fanline/consuming/answered.h"

namespace fanline::mirror {
namespace {

// A row that nobody can apply is a job of its own: somebody wrote it by hand, with src as dst or
// version 0.
JobKey KeyOf(const LoggedChange& change) {
  return {change.kind, change.edge.key(), WhyDamaged(change) ? change.id : 0};
}

}  // namespace

uint64_t PartitionOf(uint64_t shard, uint64_t shards, uint64_t partitions) {
  if (shards > partitions) return shard * partitions / shards;
  return shard * (partitions / shards) + std::min(shard, partitions % shards);
}

Mirror::Mirror(const Ports& ports, const Setup& setup, const Limits& limits)
    : ports_(ports),
      setup_(setup),
      limits_(limits),
      random_(setup.steps.seed),
      window_(setup.steps.shards.shards(), limits.rows_per_pair),
      steps_(ports.steps, setup.steps, limits_, window_),
      sources_(setup.steps.shards.shards(), Source(limits)) {}

Progress Mirror::Step(std::span<const MirrorInput> inputs, Now now) {
  for (const MirrorInput& input : inputs) {
    std::visit([&](const auto& each) { On(each, now); }, input);
  }
  steps_.Send(now);
  for (const uint64_t id : steps_.TakeOld()) {
    const Job* job = window_.Find(id);
    if (job != nullptr) sources_[job->forward].questions.Push({id});
  }
  for (const uint64_t id : steps_.TakeMarkable()) {
    const Job* job = window_.Find(id);
    if (job != nullptr) sources_[job->forward].marks.Push({id});
  }
  Progress progress;
  bool ours = false;
  for (Shard shard = 0; shard < sources_.size(); ++shard) {
    SendMarks(shard, now);
    progress.StepBy(sources_[shard].marks.timer());
    if (!taking_ || !sources_[shard].reads) continue;
    ours = true;
    SendQuestion(shard, now);
    SendHeard(shard, now);
    SendBell(shard, now);
    SendRead(shard, now);
    SendPurge(shard, now);
    progress.StepBy(sources_[shard].questions.timer());
    progress.StepBy(sources_[shard].reads->timer());
    if (bell_ && !sources_[shard].hearing) {
      progress.StepBy(sources_[shard].bell_at ? sources_[shard].bell_at
                                              : sources_[shard].heard->timer());
    }
    if (!sources_[shard].purging) progress.StepBy(sources_[shard].purge_at);
  }
  if (ours) {
    SendModeRead(now);
    progress.StepBy(mode_at_);
  }
  if (taking_) progress.StepBy(steps_.timer());
  if (taking_ && show_at_ <= now.mono) Show(now);
  return progress;
}

// ---- ownership ------------------------------------------------------------------------------

std::vector<Shard> Mirror::ShardsOf(int32_t partition) const {
  std::vector<Shard> shards;
  for (Shard shard = 0; shard < sources_.size(); ++shard) {
    const uint64_t owner = PartitionOf(shard, sources_.size(), setup_.partitions);
    if (owner == static_cast<uint64_t>(partition)) shards.push_back(shard);
  }
  return shards;
}

void Mirror::On(const PartitionAssigned& assigned, Now now) {
  for (const Shard shard : ShardsOf(assigned.partition)) {
    Leave(shard);
    Source& source = sources_[shard];
    source.reads.emplace(limits_, static_cast<Shard>(sources_.size()), setup_.gather,
                         setup_.steps.switches);
    source.heard.emplace(limits_, setup_.gather);
    ports_.steps.metrics.Bell(shard, false);
    if (!source.purge_at) source.purge_at = now.mono + limits_.purge_every;
  }
}

void Mirror::On(const PartitionRevoked& revoked, Now) {
  for (const Shard shard : ShardsOf(revoked.partition)) {
    Leave(shard);
    ports_.steps.metrics.Bell(shard, false);
    for (Shard reverse = 0; reverse < sources_.size(); ++reverse) {
      ports_.steps.metrics.Pending(shard, reverse, 0, Duration{0});
    }
  }
}

void Mirror::Leave(Shard shard) {
  window_.RemoveAll(shard);
  steps_.Forget();
  Source& source = sources_[shard];
  source.reads.reset();
  source.heard.reset();
  source.read = source.heard_read = {};
  source.belled = false;
  source.marks.Forget([](uint64_t) { return true; });
  source.questions.Forget([](uint64_t) { return true; });
}

void Mirror::StopTaking() {
  taking_ = false;
  steps_.StopTaking();
}

// Marks that a shard does not take are left to the next owner.
bool Mirror::drained() const {
  const bool marked = std::all_of(sources_.begin(), sources_.end(), [](const Source& source) {
    return source.marks.empty() || source.marks.timer().has_value();
  });
  return marked && markings_.empty() && steps_.drained();
}

// ---- reading --------------------------------------------------------------------------------

void Mirror::SendRead(Shard shard, Now now) {
  Source& source = sources_[shard];
  const size_t page = std::min(limits_.rows_per_read, limits_.rows_per_pair / 8);
  const auto after = source.reads->Next(now.mono, [&](Shard reverse) {
    return HasRoomForBacklog(shard, reverse, std::max<size_t>(page, 1));
  });
  if (!after) return;
  source.read = Begun(shard, now);
  reads_.emplace(source.read.id, shard);
  ports_.log.Submit(ReadPending{source.read.id, shard, *after, limits_.rows_per_read});
}

Mirror::UnderWay Mirror::Begun(Shard shard, Now now) {
  return {++ids_, now.mono, steps_.doubts(shard), {}};
}

bool Mirror::HasRoomForBacklog(Shard shard, Shard reverse, size_t rows) const {
  return window_.HasRoom(shard, reverse, rows + limits_.rows_per_pair / 4);
}

void Mirror::On(const PendingRead& read, Now now) {
  const Shard shard = TakeAnswered(reads_, read.id);
  Source& source = sources_[shard];
  if (source.read.id != read.id) return;  // an earlier assignment asked for it
  const UnderWay under_way = std::exchange(source.read, {});
  if (!read.status.done()) {
    source.reads->Failed(now.mono, random_());
    return Failed(shard, read.status, now);
  }
  if (!taking_) return;
  const bool fresh =
      source.reads->kind() == Reads::Kind::kNew || source.reads->kind() == Reads::Kind::kLate;
  const bool all_new = fresh && read.changes.size() < limits_.rows_per_read;
  const uint64_t newest = source.reads->newest();
  std::vector<Steps::Ref> taken;
  source.reads->Done(read, now.mono, [&](const LoggedChange& change) {
    const Shard reverse = setup_.steps.shards.ShardOf(change.edge.dst);
    return std::pair(reverse, Take(shard, reverse, change, fresh, under_way, &taken));
  });
  if (all_new && source.belled) CompareWithBell(shard, newest, taken, now);
  steps_.Begin(taken);
}

Reads::Fate Mirror::Take(Shard shard, Shard reverse, const LoggedChange& change, bool fresh,
                         const UnderWay& read, std::vector<Steps::Ref>* taken) {
  const LogRow row = change.row();
  if (read.marked.contains(row)) return Reads::Fate::kTaken;
  const JobKey key = KeyOf(change);
  if (WindowRow* known = window_.Find(shard, reverse, key, row)) {
    // Of two reads that were under way the other may have been the later one.
    known->read_at = std::max(known->read_at, read.sent_at);
    known->doubts = std::max(known->doubts, read.doubts);
    return Reads::Fate::kTaken;
  }
  const bool room = fresh ? window_.HasRoom(shard, reverse) : HasRoomForBacklog(shard, reverse, 1);
  if (!room) return Reads::Fate::kNoRoom;
  const WindowRow added{change, read.sent_at, read.doubts, RowStep::kRead};
  taken->push_back({window_.Add(shard, reverse, key, added), row});
  return Reads::Fate::kTaken;
}

// ---- bells ------------------------------------------------------------------------------------

void Mirror::SendModeRead(Now now) {
  if (!mode_at_ || *mode_at_ > now.mono) return;
  mode_at_.reset();
  ports_.modes.Submit(ReadMirrorMode{++ids_});
}

// While nobody can say, the mode stays.
void Mirror::On(const MirrorModeRead& read, Now now) {
  mode_at_ = now.mono + limits_.mode_every;
  if (read.status.done()) bell_ = read.mode == MirrorMode::kLog;
  if (bell_) return;
  for (Shard shard = 0; shard < sources_.size(); ++shard) SetBelled(shard, false, now);
}

void Mirror::SetBelled(Shard shard, bool belled, Now now) {
  Source& source = sources_[shard];
  if (std::exchange(source.belled, belled) == belled) return;
  source.heard->Begin();
  source.reads->SetBelled(belled, now.mono);
  ports_.steps.metrics.Bell(shard, belled);
}

void Mirror::SendBell(Shard shard, Now now) {
  Source& source = sources_[shard];
  if (!bell_ || source.hearing || (source.bell_at && *source.bell_at > now.mono)) return;
  source.bell_at.reset();
  if (!source.heard->listens(now.mono)) return;
  source.hearing = true;
  bells_.emplace(++ids_, shard);
  ports_.bells.Submit(HearLog{ids_, shard, std::exchange(source.another, false)});
}

void Mirror::On(const LogHeard& heard, Now now) {
  const Shard shard = TakeAnswered(bells_, heard.id);
  Source& source = sources_[shard];
  source.hearing = false;
  if (!heard.status.done()) {
    source.another = true;
    source.bell_at = now.mono + limits_.backoff.Delay(++source.bell_attempts, random_());
    ports_.steps.metrics.BellLost(shard);
    return SetBelled(shard, false, now);
  }
  source.bell_attempts = 0;
  if (!source.reads || !bell_ || source.another) return;
  if (heard.begun) source.heard->Begin();
  source.heard->Add(heard.log_ids, now.mono);
  if (!source.heard->crowded()) return SetBelled(shard, true, now);
  source.heard->Forget();
  LeaveToPolls(shard, now);
}

// Rows below `newest` may be older than the bell.
void Mirror::CompareWithBell(Shard shard, uint64_t newest, const std::vector<Steps::Ref>& read,
                             Now now) {
  Source& source = sources_[shard];
  std::vector<uint64_t> ids;
  for (const Steps::Ref& ref : read) {
    if (ref.row.id > newest) ids.push_back(ref.row.id);
  }
  if (!source.heard->IsSilent(ids, now.mono)) return;
  ports_.steps.metrics.BellSilent(shard);
  LeaveToPolls(shard, now);
}

// For a while. What the bell tells meanwhile is found by then.
void Mirror::LeaveToPolls(Shard shard, Now now) {
  Source& source = sources_[shard];
  source.another = true;
  source.bell_at = now.mono + limits_.polled_for;
  SetBelled(shard, false, now);
}

void Mirror::SendHeard(Shard shard, Now now) {
  Source& source = sources_[shard];
  auto ids = source.heard->Next(now.mono);
  if (!ids) return;
  source.heard_read = Begun(shard, now);
  heard_reads_.emplace(source.heard_read.id, shard);
  ports_.log.Submit(AskPending{source.heard_read.id, shard, *std::move(ids)});
}

void Mirror::OnHeardRows(const PendingAsked& asked, Now now) {
  const Shard shard = TakeAnswered(heard_reads_, asked.id);
  Source& source = sources_[shard];
  if (source.heard_read.id != asked.id) return;  // an earlier assignment asked for it
  const UnderWay under_way = std::exchange(source.heard_read, {});
  if (!asked.status.done()) {
    source.heard->Failed();
    return Failed(shard, asked.status, now);
  }
  const uint64_t missed = source.heard->Done(asked.pending);
  ports_.steps.metrics.HeardInVain(missed);
  // A server that tells much earlier than it shows, as semi-synchronous replication makes it, would
  // leave every change to the polls. These must not rest.
  if (missed > 0) SetBelled(shard, false, now);
  if (!taking_) return;
  std::vector<Steps::Ref> taken;
  for (const LoggedChange& change : asked.pending) {
    const UnixMs age = std::max<UnixMs>(0, now.unix_ms - change.written_at);
    ports_.steps.metrics.HeardRow(std::chrono::milliseconds(age));
    const Shard reverse = setup_.steps.shards.ShardOf(change.edge.dst);
    // What finds no room is read again with the new rows, from where its backlog begins.
    (void)Take(shard, reverse, change, true, under_way, &taken);
  }
  steps_.Begin(taken);
}

// ---- rows that were read long ago -------------------------------------------------------------

void Mirror::SendQuestion(Shard shard, Now now) {
  auto batch = sources_[shard].questions.Take(now.mono);
  if (!batch) return;
  Question question{shard, now.mono, steps_.doubts(shard), *std::move(batch), {}};
  AskPending request{++ids_, shard, {}};
  for (const auto& [id, key] : question.batch.jobs) {
    const Job* job = window_.Find(id);
    if (job == nullptr) continue;
    for (const WindowRow& row : job->rows) {
      // The next question takes rows that find no place here, and rows that become old meanwhile.
      if (request.log_ids.size() >= limits_.rows_per_question) break;
      if (!steps_.IsOld(row, shard, now.mono)) continue;
      question.rows.push_back({id, row.change.row()});
      request.log_ids.push_back(row.change.id);
    }
  }
  questions_.emplace(request.id, std::move(question));
  ports_.log.Submit(std::move(request));
}

void Mirror::On(const PendingAsked& asked, Now now) {
  if (heard_reads_.contains(asked.id)) return OnHeardRows(asked, now);
  Question question = TakeAnswered(questions_, asked.id);
  ShardQueue& queue = sources_[question.shard].questions;
  if (!asked.status.done()) {
    Failed(question.shard, asked.status, now);
    std::erase_if(question.batch.jobs,
                  [this](const auto& job) { return window_.Find(job.id) == nullptr; });
    return queue.Away(question.batch, now.mono, random_());
  }
  queue.Done(question.batch, now.mono);
  std::set<LogRow> pending;
  for (const LoggedChange& change : asked.pending) pending.insert(change.row());
  for (const Steps::Ref& ref : question.rows) {
    WindowRow* row = window_.Find(ref.job, ref.row);
    if (row == nullptr) continue;
    if (!pending.contains(ref.row)) {  // somebody else has done it, or it is lost
      if (row->step == RowStep::kRunning) window_.Find(ref.job)->mirrored = 0;
      window_.Remove(ref.job, ref.row);
    } else {
      row->read_at = question.sent_at;
      row->doubts = question.doubts;
    }
  }
  for (const auto& job : question.batch.jobs) steps_.Again(job.id, now);
}

// ---- marks and purges -----------------------------------------------------------------------

void Mirror::SendMarks(Shard shard, Now now) {
  auto batch = sources_[shard].marks.Take(now.mono);
  if (!batch) return;
  Marking marking{shard, *std::move(batch), {}};
  MarkDone request{++ids_, shard, {}};
  for (const auto& [id, key] : marking.batch.jobs) {
    Job* job = window_.Find(id);
    if (job == nullptr) continue;
    job->to_mark = false;
    for (const WindowRow& row : job->rows) {
      if (row.step != RowStep::kMarking) continue;
      marking.rows.push_back({id, row.change.row()});
      request.rows.push_back(row.change.row());
    }
  }
  markings_.emplace(request.id, std::move(marking));
  ports_.log.Submit(std::move(request));
}

void Mirror::On(const MarkedDone& marked, Now now) {
  Marking marking = TakeAnswered(markings_, marked.id);
  Source& source = sources_[marking.shard];
  if (!marked.status.done()) {
    Failed(marking.shard, marked.status, now);
    std::erase_if(marking.batch.jobs, [this](const auto& waiting) {
      Job* job = window_.Find(waiting.id);
      return job == nullptr || std::exchange(job->to_mark, true);
    });
    return source.marks.Away(marking.batch, now.mono, random_());
  }
  source.marks.Done(marking.batch, now.mono);
  for (const Steps::Ref& ref : marking.rows) {
    for (UnderWay* each : {&source.read, &source.heard_read}) {
      if (each->id != 0) each->marked.insert(ref.row);
    }
    window_.Remove(ref.job, ref.row);
  }
}

void Mirror::SendPurge(Shard shard, Now now) {
  Source& source = sources_[shard];
  if (source.purging || *source.purge_at > now.mono) return;
  source.purging = true;
  purges_.emplace(++ids_, shard);
  ports_.log.Submit(PurgeDone{ids_, shard, limits_.keep_done, limits_.rows_per_purge});
}

void Mirror::On(const PurgedDone& purged, Now now) {
  Source& source = sources_[TakeAnswered(purges_, purged.id)];
  source.purging = false;
  const bool more = purged.status.done() && purged.deleted >= limits_.rows_per_purge;
  source.purge_at = more ? now.mono : now.mono + limits_.purge_every;
}

void Mirror::Failed(Shard shard, const Status& status, Now now) {
  ports_.steps.metrics.Parked(status.resource);
  if (status.cause == Cause::kLocked) return;
  steps_.Doubt(shard);
  Source& source = sources_[shard];
  if (source.reads) source.reads->Doubt();
  source.another = true;
  SetBelled(shard, false, now);
}

// ---- what waits -----------------------------------------------------------------------------

void Mirror::Show(Now now) {
  show_at_ = now.mono + limits_.show_every;
  struct Waiting {
    uint64_t rows = 0;
    UnixMs oldest = std::numeric_limits<UnixMs>::max();
  };
  const size_t shards = sources_.size();
  std::vector<Waiting> waiting(shards * shards);
  window_.ForEach([&](const Job& job) {
    Waiting& pair = waiting[job.forward * shards + job.reverse];
    pair.rows += job.rows.size();
    for (const WindowRow& row : job.rows) {
      pair.oldest = std::min(pair.oldest, row.change.written_at);
    }
  });
  for (Shard shard = 0; shard < shards; ++shard) {
    if (!sources_[shard].reads) continue;
    for (Shard reverse = 0; reverse < shards; ++reverse) {
      const Waiting& pair = waiting[shard * shards + reverse];
      const UnixMs age = std::max<UnixMs>(0, now.unix_ms - pair.oldest);
      ports_.steps.metrics.Pending(shard, reverse, pair.rows, std::chrono::milliseconds(age));
    }
  }
}

}  // namespace fanline::mirror
