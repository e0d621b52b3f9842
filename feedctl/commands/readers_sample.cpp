// feedctl readers sample: lists, shows or sets whose home timelines hold a sample of others' posts,
// of one reader or of all who follow very many. The row is written first, then a hint
// sync(reader, reader): the pusher of the reader's range drops the timeline, and the reader's next
// visit rebuilds it. A hint is sent for rows that were so already too, for a command that was
// killed before may not have sent it.
#include <cstdio>
#include <map>
#include <vector>

#include "backends/kafka/producer.h"
#include "backends/mysql/posts/sampled_readers.h"
#include "fanline/base/number.h"
#include "fanline/model/sample.h"
#include "feedctl/commands/command.h"
#include "feedctl/events/acknowledgements.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"
#include "feedctl/support/text.h"
#include "feedctl/support/user_id.h"

namespace fanline::feedctl {
namespace {

constexpr const char* kOff = "off";
constexpr uint64_t kMostHintsUnderWay = 10'000;

class ReadersSample : public Command {
 public:
  ReadersSample(daemon::OptionTable& table, Settings& settings) : Command(settings) {
    table.AddPositional("reader", &reader_, "whose timeline; none: list all who are sampled")
        .Optional();
    table
        .AddPositional("one-in", &one_in_,
                       "hold one in so many posts of others, a power of two up to 1024; off: every "
                       "post; none: show what holds")
        .Optional();
    table
        .Add(
            "above", &above_,
            "instead of one reader: sample all who follow more authors, down to about the posts of "
            "so many, and no others; who was set by hand stays")
        .Unit("AUTHORS");
    table.Add("json", &json_, "print a JSON object per reader");
    options::AddOptions(table, settings.kafka);
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt&) override {
    RequireUsage(Problem());
    if (!reader_.empty()) only_ = RequireUserId("<reader>", reader_);
    installation_ = ReadInstalled(settings_);
    std::map<UserId, mysql::SampledReader> rows = ReadRows();
    if (above_ > 0) {
      Set(Fitting(rows));
    } else if (!one_in_.empty()) {
      Set({{*only_, OneIn(), true}});
    } else {
      for (const auto& [reader, row] : rows) {
        if (only_ ? reader == *only_ : row.one_in > 1) Print(row);
      }
      if (only_ && !rows.contains(*only_)) Print({*only_});
    }
    return 0;
  }

 private:
  std::string Problem() const {
    if (above_ > 0) return reader_.empty() ? "" : "--above: not together with a reader";
    if (one_in_.empty() || OneIn() > 0) return "";
    return "<one-in>: " + QuotedShort(one_in_) + " is neither off nor a power of two up to " +
           std::to_string(kMostOneIn);
  }

  // 0: what was given is none.
  uint32_t OneIn() const {
    if (one_in_ == kOff) return 1;
    const auto number = ParseNumber<uint32_t>(one_in_);
    return number && IsOneIn(*number) ? *number : 0;
  }

  std::map<UserId, mysql::SampledReader> ReadRows() const {
    mysql::ShardConnections connections(options::ToConfig(settings_.mysql));
    std::map<UserId, mysql::SampledReader> rows;
    for (Shard shard = 0; shard < installation_.shard_map.shards(); ++shard) {
      Require(mysql::ScanSampledReaders(
                  connections, shard,
                  [&](const mysql::SampledReader& row) { rows.emplace(row.reader, row); }),
              settings_);
    }
    return rows;
  }

  // Everybody with a row that is not by hand, and who follows more than --above.
  std::vector<mysql::SampledReader> Fitting(std::map<UserId, mysql::SampledReader> rows) const {
    mysql::ShardConnections connections(options::ToConfig(settings_.mysql));
    for (Shard shard = 0; shard < installation_.shard_map.shards(); ++shard) {
      const auto add = [&](UserId user, uint64_t follows) {
        rows.try_emplace(user, mysql::SampledReader{user, 1, false, follows});
      };
      Require(mysql::ScanFollowingMany(connections, shard, above_, add), settings_);
    }
    std::vector<mysql::SampledReader> fitting;
    for (auto& [reader, row] : rows) {
      if (row.by_hand) continue;
      row.one_in = OneInFor(row.follows, above_, row.one_in);
      fitting.push_back(row);
    }
    return fitting;
  }

  void Set(const std::vector<mysql::SampledReader>& readers) const {
    RequireTopic(settings_, installation_.tasks_topic, installation_.partitions);
    kafka::ProducerOptions options;
    options.client = options::ToOptions(settings_.kafka, kClientId);
    options.hint_topic = installation_.tasks_topic;
    Acknowledgements hints;
    kafka::Producer producer(options, [](LogLevel, const std::string&) {});
    mysql::ShardConnections connections(options::ToConfig(settings_.mysql));
    const RangeLayout layout = installation_.layout();
    for (const mysql::SampledReader& to : readers) {
      Require(
          connections.Run(installation_.shard_map.ShardOf(to.reader),
                          [&](mysql::Connection& connection) { mysql::SetSample(connection, to); }),
          settings_);
      hints.AwaitAtMost(kMostHintsUnderWay);
      hints.Expect();
      producer.Submit(
          AppendHints{0, {{layout.RangeOf(to.reader), Hint::OfSync(to.reader, to.reader)}}, {}},
          hints);
      Print(to);
    }
    hints.AwaitAtMost(0);
    if (hints.failure().done()) return;
    Require({hints.failure().outcome, hints.failure().resource,
             hints.failure().message + "; run the same again, which sends what was not"},
            settings_);
  }

  void Print(const mysql::SampledReader& row) const {
    const std::string reader = ToString(row.reader);
    if (json_) {
      PutJson({{"reader", reader}, {"one_in", row.one_in}, {"set_by", SetBy(row)}});
    } else if (row.one_in == 1) {
      std::printf("%s: every post (%s)\n", reader.c_str(), SetBy(row));
    } else {
      std::printf("%s: one in %u (%s)\n", reader.c_str(), row.one_in, SetBy(row));
    }
  }
  static const char* SetBy(const mysql::SampledReader& row) {
    return row.by_hand ? "hand" : "limit";
  }

  std::string reader_, one_in_;
  std::optional<UserId> only_;
  uint64_t above_ = 0;
  bool json_ = false;
  mysql::Installation installation_;
};

}  // namespace

extern const Row kReadersSample =
    RowOf<ReadersSample>("readers sample", "has timelines of readers hold a sample of posts");

}  // namespace fanline::feedctl
