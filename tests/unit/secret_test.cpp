// Secrets in files, as Kubernetes and operators change them under a program that runs.
#include "fanline/base/secret.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace fanline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

// World: a folder of this test's own.
class SecretFile : public ::testing::Test {
 protected:
  SecretFile() {
    std::string pattern = (fs::temp_directory_path() / "fanline-secret-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~SecretFile() override { fs::remove_all(folder_); }

  fs::path Write(const std::string& name, const std::string& content) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return folder_ / name;
  }
  static std::string Read(const fs::path& path) {
    std::string secret;
    EXPECT_EQ((Secret{{}, path}.Read(&secret)), "");
    return secret;
  }
  static std::string Wrong(const fs::path& path) {
    std::string secret = "untouched";
    const std::string wrong = Secret{{}, path}.Read(&secret);
    EXPECT_EQ(secret, "untouched");
    EXPECT_THAT(wrong, HasSubstr(path.string()));
    return wrong;
  }

  fs::path folder_;
};

TEST_F(SecretFile, ATextIsItself) {
  std::string secret;
  EXPECT_EQ((Secret{"s3cret\n", {}}.Read(&secret)), "");
  EXPECT_EQ(secret, "s3cret\n");
  EXPECT_TRUE((Secret{"s3cret", {}}.given()));
  EXPECT_TRUE((Secret{{}, "/run/secret"}.given()));
  EXPECT_FALSE(Secret{}.given());
}

TEST_F(SecretFile, TheLineEndOfAnEditorIsNoPartOfIt) {
  EXPECT_EQ(Read(Write("a", "s3cret")), "s3cret");
  EXPECT_EQ(Read(Write("a", "s3cret\n")), "s3cret");
  EXPECT_EQ(Read(Write("a", "s3cret\r\n")), "s3cret");
  EXPECT_EQ(Read(Write("a", " s3 cret \n\n")), " s3 cret \n");
}

TEST_F(SecretFile, IsReadAnewEachTimeAlsoThroughALinkThatWasSwapped) {
  Write("first/password", "old\n");
  Write("second/password", "new\n");
  const fs::path password = folder_ / "data/password";
  fs::create_directory_symlink("first", folder_ / "data");
  EXPECT_EQ(Read(password), "old");
  fs::create_directory_symlink("second", folder_ / "data.tmp");
  fs::rename(folder_ / "data.tmp", folder_ / "data");
  EXPECT_EQ(Read(password), "new");
}

// Files of certificates are read the same way.
TEST_F(SecretFile, ABundleOfAuthoritiesIsNotTooLarge) {
  EXPECT_EQ(Read(Write("authorities.crt", std::string(256 * 1024, 'a'))).size(), 256u * 1024);
}

TEST_F(SecretFile, WhatHoldsNoSecretIsRefusedByItsPath) {
  EXPECT_THAT(Wrong(folder_ / "absent"), HasSubstr("cannot be read: No such file"));
  EXPECT_THAT(Wrong(Write("empty", "")), HasSubstr("is empty"));
  EXPECT_THAT(Wrong(Write("blank", "\n")), HasSubstr("is empty"));
  EXPECT_THAT(Wrong(folder_), HasSubstr("is no file"));
  const std::string large = Wrong(Write("large", std::string(Secret::kMostBytes + 1, 's')));
  EXPECT_THAT(large, HasSubstr("is too large"));
  EXPECT_THAT(large, Not(HasSubstr("ss")));
}

TEST_F(SecretFile, APipeThatNobodyWritesHoldsNobodyUp) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(Wrong(pipe), HasSubstr("is no file"));
}

}  // namespace
}  // namespace fanline
