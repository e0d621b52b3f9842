#include "feedctl/support/line_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>

namespace fanline::feedctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LineReaderTest : public ::testing::Test {
 protected:
  LineReaderTest() {
    const int fd = mkstemp(path_);
    EXPECT_GE(fd, 0);
    close(fd);
  }
  ~LineReaderTest() override { unlink(path_); }

  void Write(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }

  static std::vector<std::string> LinesOf(const char* path) {
    LineReader reader(path);
    std::vector<std::string> lines;
    std::string_view line;
    while (reader.Next(&line)) lines.emplace_back(line);
    EXPECT_EQ(reader.number(), lines.size());
    return lines;
  }

  std::vector<std::string> Lines() const { return LinesOf(path_); }
  Failure FailureOfReading() const { return FailureOf(path_); }
  static Failure FailureOf(const char* path) {
    try {
      LinesOf(path);
    } catch (const Failure& failure) {
      return failure;
    }
    ADD_FAILURE() << "it was read";
    return Failure(0, "");
  }

  char path_[32] = "/tmp/line_reader_test_XXXXXX";
};

// Longer than any buffer.
std::string ManyLines(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

TEST_F(LineReaderTest, ReadsLinesWithoutTheirEnds) {
  Write("one\ntwo\r\n\nfour");
  EXPECT_THAT(Lines(), ElementsAre("one", "two", "", "four"));
}

TEST_F(LineReaderTest, AnEmptyFileHasNoLine) {
  EXPECT_THAT(Lines(), IsEmpty());
  Write("\n");
  EXPECT_THAT(Lines(), ElementsAre(""));
}

TEST_F(LineReaderTest, LinesMayCrossAnyBuffer) {
  constexpr size_t kLines = 200'000;
  Write(ManyLines(kLines));
  const auto lines = Lines();
  ASSERT_EQ(lines.size(), kLines);
  for (size_t i = 0; i < kLines; ++i) ASSERT_EQ(lines[i], "line " + std::to_string(i));
}

TEST_F(LineReaderTest, AGzippedFileIsRefused) {
  Write("\x1f\x8b\x08 packed\nbytes");
  EXPECT_EQ(FailureOfReading().exit_code(), 65);
  EXPECT_THAT(FailureOfReading().what(), HasSubstr("is gzipped; pipe it through zcat"));
}

TEST_F(LineReaderTest, ALineWithoutEndIsRefusedBeforeItFillsTheMemory) {
  Write("short\n" + std::string(4 * LineReader::kMaxLineBytes, 'x'));
  EXPECT_EQ(FailureOfReading().exit_code(), 65);
  EXPECT_THAT(FailureOfReading().what(), HasSubstr(":2: the line is longer than"));
}

TEST_F(LineReaderTest, AFileThatIsNotThereIsNoInput) {
  const Failure failure = FailureOf("/nowhere/at/all");
  EXPECT_EQ(failure.exit_code(), 66);
  EXPECT_THAT(failure.what(), HasSubstr("cannot open /nowhere/at/all: No such file"));
}

TEST_F(LineReaderTest, WhatIsWrongIsSaidWithFileAndLine) {
  Write("one\ntwo\n");
  LineReader reader(path_);
  std::string_view line;
  ASSERT_TRUE(reader.Next(&line));
  ASSERT_TRUE(reader.Next(&line));
  EXPECT_EQ(reader.Bad("no").what(), std::string(path_) + ":2: no");
}

}  // namespace
}  // namespace fanline::feedctl
