// fanline-bench-pairs: the pair tracker by itself, no log and no network.
//
//   machine   PairTracker takes the messages of relation-log in steps as long as a reconciler's, in
//             eight partitions; time goes on as if 20,000 came in a second
//   map       the other side: the edge and version of each of the same messages go into a
//             std::unordered_map
//
// The messages are made before the clock starts. Prints {"records": n, "seconds": s}.
#include <algorithm>
#include <cstdio>
#include <unordered_map>
#include <vector>

#include "bench/made_pairs.h"
#include "bench/round.h"
#include "daemon/options/options.h"
#include "daemon/run/main_guard.h"
#include "fanline/model/bucket.h"
#include "reconciler/pair_tracker.h"

using namespace fanline;
using reconciler::PairInput;
using reconciler::PairRecord;

namespace {

constexpr int32_t kPartitions = 8;
constexpr size_t kPerStep = 2'000;
constexpr Duration kStep = std::chrono::milliseconds(100);

PairRecord RecordOf(const RelationMessage& message) {
  PairRecord record;
  record.edge = KeyOf(message);
  if (const auto* written = std::get_if<EdgeWritten>(&message)) {
    record.kind = PairRecord::Kind::kWritten;
    record.ver = written->edge.ver;
  } else {
    record.kind = PairRecord::Kind::kMirrored;
    record.ver = std::get<EdgeMirrored>(message).ver;
  }
  return record;
}

UnixMs Milliseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

std::vector<PairInput> Make(uint64_t edges) {
  std::vector<PairInput> inputs;
  inputs.reserve(2 * edges);
  std::vector<int64_t> next(kPartitions, 0);
  bench::ForEachPairMessage(edges, [&](const RelationMessage& message) {
    PairRecord record = RecordOf(message);
    record.partition = static_cast<int32_t>(Crc32(RelationLogKey(record.edge)) % kPartitions);
    record.offset = next[static_cast<size_t>(record.partition)]++;
    record.appended = Milliseconds(kStep) * static_cast<UnixMs>(inputs.size() / kPerStep);
    inputs.push_back(record);
  });
  return inputs;
}

double RunMachine(const std::vector<PairInput>& inputs) {
  reconciler::Metrics metrics;
  reconciler::PairTracker tracker({}, metrics);
  Now now{Time(std::chrono::hours(1)), 0};
  std::vector<PairInput> assigned;
  for (int32_t i = 0; i < kPartitions; ++i) assigned.push_back(PartitionAssigned{i, 0, 0});
  (void)tracker.Step(assigned, now);

  size_t checks = 0;
  const bench::Stopwatch watch;
  for (size_t begin = 0; begin < inputs.size(); begin += kPerStep) {
    const auto step = std::span(inputs).subspan(begin, std::min(kPerStep, inputs.size() - begin));
    checks += tracker.Step(step, now).checks.size();
    now.mono += kStep;
    now.unix_ms += Milliseconds(kStep);
  }
  const double seconds = watch.Seconds();
  bench::Must(tracker.pending() == 0 && checks == 0, "a pair was not found");
  return seconds;
}

double RunMap(const std::vector<PairInput>& inputs) {
  std::unordered_map<EdgeKey, uint64_t> map;
  const bench::Stopwatch watch;
  for (const PairInput& input : inputs) {
    const auto& record = std::get<PairRecord>(input);
    map.insert_or_assign(record.edge, record.ver);
  }
  const double seconds = watch.Seconds();
  bench::Must(map.size() == inputs.size() / 2, "an edge was not kept");
  return seconds;
}

int Main(int argc, char** argv) {
  uint64_t edges = 0;
  daemon::OptionTable table("fanline-bench-pairs", "the pair tracker, or a plain hash map");
  table.Add("edges", &edges, "how many, in hundreds; two messages each").AtLeast(100).Required();
  table.Check(
      [&]() -> std::string { return edges % bench::kPairBlock == 0 ? "" : "--edges: hundreds"; });
  table.AddCommand("machine", "the pair tracker");
  table.AddCommand("map", "std::unordered_map");
  const std::string command = table.ParseOrExit(argc, argv).command;

  const std::vector<PairInput> inputs = Make(edges);
  const double seconds = command == "machine" ? RunMachine(inputs) : RunMap(inputs);
  std::printf("{\"records\": %zu, \"seconds\": %.6f}\n", inputs.size(), seconds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-bench-pairs", [&] { return Main(argc, argv); });
}
