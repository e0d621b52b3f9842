// Every kept input once through its target. A test's name holds the name of its file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "tests/fuzz/target.h"

namespace fanline::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kMostBytesOfOne = 200 * 1024, kMostBytesOfAll = 1024 * 1024;

std::vector<fs::path> Listed(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<fs::path> KeptInputs() {
  std::vector<fs::path> inputs;
  for (const fs::path& corpus : Listed(FANLINE_CORPORA)) {
    const auto files = Listed(corpus);
    inputs.insert(inputs.end(), files.begin(), files.end());
  }
  return inputs;
}

std::string NameOf(const ::testing::TestParamInfo<fs::path>& info) {
  std::string name =
      info.param.parent_path().filename().string() + "_" + info.param.filename().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

class Kept : public ::testing::TestWithParam<fs::path> {};
INSTANTIATE_TEST_SUITE_P(Corpora, Kept, ::testing::ValuesIn(KeptInputs()), NameOf);

TEST_P(Kept, InputHolds) {
  std::ifstream file(GetParam(), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::string name = GetParam().parent_path().filename().string();
  const auto target = std::find_if(Targets().begin(), Targets().end(),
                                   [&](const Target& each) { return each.name == name; });
  ASSERT_NE(target, Targets().end()) << "a corpus of no target";
  target->run(bytes);
}

TEST(Corpora, AreSmallAndEveryTargetHasOne) {
  uintmax_t all = 0;
  std::set<std::string> names;
  for (const fs::path& corpus : Listed(FANLINE_CORPORA)) {
    names.insert(corpus.filename().string());
    uintmax_t bytes = 0;
    for (const fs::path& file : Listed(corpus)) bytes += fs::file_size(file);
    EXPECT_LE(bytes, kMostBytesOfOne) << corpus;
    all += bytes;
  }
  EXPECT_LE(all, kMostBytesOfAll);
  for (const Target& target : Targets()) EXPECT_EQ(names.count(target.name), 1u) << target.name;
}

}  // namespace
}  // namespace fanline::fuzz
