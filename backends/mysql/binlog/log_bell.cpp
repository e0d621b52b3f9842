#include "backends/mysql/binlog/log_bell.h"

#include <string>
#include <utility>

#include "backends/mysql/binlog/binlog_decoder.h"
#include "backends/mysql/binlog/binlog_end.h"
#include "backends/mysql/sql/connection.h"
#include "backends/mysql/sql/sql_text.h"
#include "fanline/base/check.h"
#include "fanline/base/mono_now.h"

namespace fanline::mysql {
namespace {

// Servers of an installation count from 1 on, or are named by addresses; those are of the lower
// half, as people set them. Each link has another number: a server that has not noticed the end of
// an earlier link would end this one.
uint32_t DrawServerId(std::mt19937_64& random) {
  return uint32_t{1} << 31 | static_cast<uint32_t>(random() >> 33);
}

// The error of a link that was lost would be taken for one of a server that cannot be reached.
std::string_view NextOf(BinlogLink& link, bool listening) {
  try {
    return link.Next();
  } catch (const MysqlError& error) {
    if (!listening || error.code() == 0) throw;
    throw MysqlError(0, Sql("the link ended (", error.what(),
                            "): somebody ended it, or an event was longer than ",
                            BinlogLink::kMostBytes >> 20, " MiB; it is made anew"));
  }
}

}  // namespace

MysqlLogBell::MysqlLogBell(const Config& config, LogSink log, uint64_t seed)
    : config_(config), log_(std::move(log), MonoNow), shards_(config.shards.size()) {
  for (Shard shard = 0; shard < shards_.size(); ++shard) {
    threads_.emplace_back([this, shard, seed] { Work(shard, shards_[shard], seed + shard); });
  }
}

MysqlLogBell::~MysqlLogBell() {
  stopping_ = true;
  for (ShardState& state : shards_) {
    const std::lock_guard lock(state.mutex);  // or a thread between check and wait misses it
    state.news.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

void MysqlLogBell::Serve(HearLog request, ReplyTo<LogHeard> to) {
  ShardState& state = shards_[request.shard];
  LogHeard reply{request.id, {}, {}};
  {
    const std::lock_guard lock(state.mutex);
    FANLINE_CHECK(!state.asked, "one request per shard at a time");
    if (request.anew) {
      state.anew = true;
      state.heard.clear();
    }
    state.asked_at = MonoNow();
    reply.log_ids.swap(state.heard);
    if (reply.log_ids.empty()) {
      state.asked = {std::move(request), to};
      state.news.notify_all();
      return;
    }
    reply.begun = std::exchange(state.begun, false);
  }
  to(std::move(reply));
}

void MysqlLogBell::Work(Shard shard, ShardState& state, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (;;) {
    {
      std::unique_lock lock(state.mutex);
      state.news.wait(lock, [&] { return stopping_ || state.asked; });
      if (stopping_) return;
      state.anew = false;
      state.begun = true;
      state.heard.clear();
    }
    try {
      Listen(shard, state, DrawServerId(random));
    } catch (const MysqlError& error) {
      Fail(shard, state, error);
    }
  }
}

void MysqlLogBell::Listen(Shard shard, ShardState& state, uint32_t server_id) {
  BinlogEnd end;
  {
    Connection connection(config_, shard);
    connection.Open();
    end = EndOfBinlog(connection);
  }
  BinlogLink link(config_, shard, end.place, server_id);
  BinlogDecoder decoder(end.database);
  std::vector<uint64_t> ids;
  bool listening = false;  // the server has agreed
  while (IsWanted(state)) {
    ids.clear();
    const std::string wrong = decoder.Read(NextOf(link, listening), ids);
    if (!wrong.empty()) throw MysqlError(0, wrong);
    if (!std::exchange(listening, true)) {
      log_.Log(LogLevel::kInfo, ResourceOf(shard) + " listening",
               Sql(config_.NameOf(shard), " (binary log): listening from ", end.place.file, ':',
                   end.place.position));
    }
    Tell(state, ids);
  }
}

bool MysqlLogBell::IsWanted(ShardState& state) const {
  const std::lock_guard lock(state.mutex);
  if (stopping_ || state.anew) return false;
  return state.asked || MonoNow() < state.asked_at + kUnasked;
}

void MysqlLogBell::Tell(ShardState& state, const std::vector<uint64_t>& ids) {
  std::optional<Submitted<HearLog>> asked;
  LogHeard reply;
  {
    const std::lock_guard lock(state.mutex);
    if (state.heard.size() + ids.size() <= kMostIds) {
      state.heard.insert(state.heard.end(), ids.begin(), ids.end());
    }
    const bool due = state.begun || !state.heard.empty() || MonoNow() >= state.asked_at + kPatience;
    if (!state.asked || !due || state.anew) return;
    asked = std::exchange(state.asked, std::nullopt);
    state.asked_at = MonoNow();
    reply.log_ids.swap(state.heard);
    reply.begun = std::exchange(state.begun, false);
  }
  reply.id = asked->request.id;
  asked->to(std::move(reply));
}

void MysqlLogBell::Fail(Shard shard, ShardState& state, const MysqlError& error) {
  Status status = StatusOf(error, config_, shard);
  status.outcome = Outcome::kLater;
  status.resource = config_.NameOf(shard);
  if (error.code() == 0) status.message = error.what();
  if (error.code() == kRightMissing) status.advice = kBinlogRights;
  const std::string advice = status.advice;
  log_.Log(LogLevel::kWarn,
           ResourceOf(shard) + " " + std::to_string(error.code()) + " " + status.message,
           status.resource + " (binary log): " + status.message +
               (advice.empty() ? "" : "; " + advice) + "; polls go on");
  std::optional<Submitted<HearLog>> asked;
  {
    const std::lock_guard lock(state.mutex);
    state.heard.clear();
    asked = std::exchange(state.asked, std::nullopt);
  }
  if (asked) asked->to(FailureOf(asked->request, status));
}

}  // namespace fanline::mysql
