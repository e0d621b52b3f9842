#include "feedctl/support/line_reader.h"

#include <gmock/gmock.h>

#include "tests/support/temporary_file.h"

namespace fanline::feedctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LineReaderTest : public ::testing::Test {
 protected:
  static std::vector<std::string> LinesOf(const char* path) {
    LineReader reader(path);
    std::vector<std::string> lines;
    std::string_view line;
    while (reader.Next(&line)) lines.emplace_back(line);
    EXPECT_EQ(reader.number(), lines.size());
    return lines;
  }

  std::vector<std::string> Lines() const { return LinesOf(file_.path()); }
  Failure FailureOfReading() const { return FailureOf(file_.path()); }
  static Failure FailureOf(const char* path) {
    try {
      LinesOf(path);
    } catch (const Failure& failure) {
      return failure;
    }
    ADD_FAILURE() << "it was read";
    return Failure(0, "");
  }

  const TemporaryFile file_{""};
};

// Longer than any buffer.
std::string ManyLines(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

TEST_F(LineReaderTest, ReadsLinesWithoutTheirEnds) {
  file_.Write("one\ntwo\r\n\nfour");
  EXPECT_THAT(Lines(), ElementsAre("one", "two", "", "four"));
}

TEST_F(LineReaderTest, AnEmptyFileHasNoLine) {
  EXPECT_THAT(Lines(), IsEmpty());
  file_.Write("\n");
  EXPECT_THAT(Lines(), ElementsAre(""));
}

TEST_F(LineReaderTest, LinesMayCrossAnyBuffer) {
  constexpr size_t kLines = 200'000;
  file_.Write(ManyLines(kLines));
  const auto lines = Lines();
  ASSERT_EQ(lines.size(), kLines);
  for (size_t i = 0; i < kLines; ++i) ASSERT_EQ(lines[i], "line " + std::to_string(i));
}

TEST_F(LineReaderTest, AGzippedFileIsRefused) {
  file_.Write("\x1f\x8b\x08 packed\nbytes");
  EXPECT_EQ(FailureOfReading().exit_code(), 65);
  EXPECT_THAT(FailureOfReading().what(), HasSubstr("is gzipped; pipe it through zcat"));
}

TEST_F(LineReaderTest, ALineWithoutEndIsRefusedBeforeItFillsTheMemory) {
  file_.Write("short\n" + std::string(4 * LineReader::kMaxLineBytes, 'x'));
  EXPECT_EQ(FailureOfReading().exit_code(), 65);
  EXPECT_THAT(FailureOfReading().what(), HasSubstr(":2: the line is longer than"));
}

TEST_F(LineReaderTest, AFileThatIsNotThereIsNoInput) {
  const Failure failure = FailureOf("/nowhere/at/all");
  EXPECT_EQ(failure.exit_code(), 66);
  EXPECT_THAT(failure.what(), HasSubstr("cannot open /nowhere/at/all: No such file"));
}

TEST_F(LineReaderTest, WhatIsWrongIsSaidWithFileAndLine) {
  file_.Write("one\ntwo\n");
  LineReader reader(file_.path());
  std::string_view line;
  ASSERT_TRUE(reader.Next(&line));
  ASSERT_TRUE(reader.Next(&line));
  EXPECT_EQ(reader.Bad("no").what(), std::string(file_.path()) + ":2: no");
}

}  // namespace
}  // namespace fanline::feedctl
