// Every kept input once through its target. A corpus is a text file, an input a line, in the
// escapes of tests/fuzz/run.py. A test's name holds the target and the line.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>

#include "tests/fuzz/target.h"
#include "tests/unit/seeded.h"

namespace fanline::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kMostBytesOfOne = 120 * 1024, kMostBytesOfAll = 512 * 1024;

struct Input {
  std::string target;
  int line = 0;
  std::string bytes;
};
void PrintTo(const Input& input, std::ostream* out) {
  *out << input.target << ".txt:" << input.line;
}

std::string Unescaped(const std::string& line) {
  std::string bytes;
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '\\') {
      bytes += line[at];
    } else if (const char kind = line.at(++at); kind == 'x') {
      bytes += static_cast<char>(std::stoi(line.substr(at + 1, 2), nullptr, 16));
      at += 2;
    } else if (kind == 'n' || kind == '\\') {
      bytes += kind == 'n' ? '\n' : '\\';
    } else {
      throw std::runtime_error("no such escape: " + line);
    }
  }
  return bytes;
}

std::vector<Input> KeptInputs() {
  std::vector<Input> inputs;
  for (const auto& corpus : fs::directory_iterator(FANLINE_CORPORA)) {
    std::ifstream file(corpus.path());
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
      inputs.push_back({corpus.path().stem().string(), number, Unescaped(line)});
    }
  }
  return inputs;
}

std::string NameOf(const ::testing::TestParamInfo<Input>& input) {
  return input.param.target + "_" + std::to_string(input.param.line);
}

const Target& TargetOf(const Input& input) {
  const auto named = [&](const Target& each) { return each.name == input.target; };
  const auto target = std::find_if(Targets().begin(), Targets().end(), named);
  if (target == Targets().end()) throw std::runtime_error("a corpus of no target");
  return *target;
}

class Kept : public ::testing::TestWithParam<Input> {};
INSTANTIATE_TEST_SUITE_P(Corpora, Kept, ::testing::ValuesIn(KeptInputs()), NameOf);

TEST_P(Kept, InputHolds) { TargetOf(GetParam()).run(GetParam().bytes); }

// Requests of the API, and what the codecs of Kafka's records and of the binary log read, with a
// few bytes damaged.
TEST(Corpora, InputsHoldAlsoWhenTheyAreDamaged) {
  const std::set<std::string> targets = {"api",  "binlog",         "feed_event",
                                         "hint", "relation_event", "relation_log"};
  fanline::testing::Seeded random;
  std::printf("FANLINE_TEST_SEED=%llu\n", static_cast<unsigned long long>(random.seed()));
  for (const Input& input : KeptInputs()) {
    if (!targets.contains(input.target) || input.bytes.empty()) continue;
    for (int round = 0; round < 100; ++round) {
      std::string bytes = input.bytes;
      for (uint64_t flips = 1 + random.Below(4); flips > 0; --flips) {
        bytes[random.Below(bytes.size())] = static_cast<char>(random.Bits());
      }
      TargetOf(input).run(bytes);
    }
  }
}

TEST(Corpora, AreSmallAndEveryTargetHasOne) {
  uintmax_t all = 0;
  std::set<std::string> names;
  for (const auto& corpus : fs::directory_iterator(FANLINE_CORPORA)) {
    names.insert(corpus.path().stem().string());
    EXPECT_LE(corpus.file_size(), kMostBytesOfOne) << corpus.path();
    all += corpus.file_size();
  }
  EXPECT_LE(all, kMostBytesOfAll);
  for (const Target& target : Targets()) EXPECT_EQ(names.count(target.name), 1u) << target.name;
}

}  // namespace
}  // namespace fanline::fuzz
