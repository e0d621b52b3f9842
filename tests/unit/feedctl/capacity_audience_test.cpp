// The audience of posts, from laws and files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "feedctl/capacity/audience.h"
#include "feedctl/capacity/followers_file.h"
#include "feedctl/support/failure.h"

namespace fanline::feedctl {
namespace {

using ::testing::HasSubstr;

TEST(Audience, OfEvenPostsIsThatOfUsers) {
  Followers followers;
  followers.Add(0, 6);
  followers.Add(10);
  followers.Add(20);
  const Audience even = followers.Of(followers.users(), PostsBy::kUsers);
  EXPECT_DOUBLE_EQ(even.mean_of_posts, 30 / 8.);
  EXPECT_DOUBLE_EQ(even.most, 20);
  EXPECT_DOUBLE_EQ(followers.Of(16, PostsBy::kUsers).mean_of_users, 30 / 16.);
}

TEST(Audience, OfPostsInProportionIsThatOfFollowers) {
  Followers followers;
  followers.Add(10);
  followers.Add(20);
  const Audience weighted = followers.Of(2, PostsBy::kFollowers);
  EXPECT_DOUBLE_EQ(weighted.mean_of_posts, (10. * 10 + 20. * 20) / 30);
  EXPECT_DOUBLE_EQ(weighted.mean_of_users, 15);
  EXPECT_EQ(Followers().Of(5, PostsBy::kFollowers).mean_of_posts, 0);
}

TEST(Audience, OfAPowerLawHasTheMeanAndTheMostThatAreGiven) {
  for (const auto& [users, mean, most] :
       {std::tuple(1e3, 10., 500.), {1e6, 70., 1e5}, {1e9, 200., 1e8}, {1e6, 5., 5.}}) {
    const auto followers = PowerLaw(users, mean, most);
    ASSERT_TRUE(followers) << users;
    const Audience audience = followers->Of(users, PostsBy::kUsers);
    EXPECT_NEAR(audience.mean_of_users / mean, 1, 0.01) << users;
    EXPECT_DOUBLE_EQ(audience.most, most);
    EXPECT_NEAR(followers->users() / users, 1, 1e-6);
    EXPECT_GE(followers->Of(users, PostsBy::kFollowers).mean_of_posts, mean * 0.99);
  }
}

TEST(Audience, OfAnImpossiblePowerLawIsRefused) {
  EXPECT_FALSE(PowerLaw(100, 10, 5));    // the mean above the most
  EXPECT_FALSE(PowerLaw(100, 10, 100));  // a user does not follow himself
  EXPECT_FALSE(PowerLaw(100, 0.5, 10));
  EXPECT_FALSE(PowerLaw(10, 1, 100'000));
}

TEST(Audience, IsNotAboveTheUsersThatThereAre) {
  EXPECT_EQ(ProblemOf({.most = 99}, 100), "");
  EXPECT_THAT(ProblemOf({.most = 2'000}, 2'000), HasSubstr("2,000 followers, which --users 2,000"))
      << "nobody follows himself";
  EXPECT_NE(ProblemOf({.most = 1e30}, 100), "");
}

TEST(Law, IsToldFromAFile) {
  std::string problem;
  const auto fixed = ParseLaw("fixed:200", &problem);
  ASSERT_TRUE(fixed);
  EXPECT_EQ(fixed->mean, 200);
  EXPECT_FALSE(fixed->most);
  const auto law = ParseLaw("power-law:6.7:3035", &problem);
  ASSERT_TRUE(law);
  EXPECT_EQ(law->mean, 6.7);
  EXPECT_EQ(law->most, 3035);
  EXPECT_FALSE(ParseLaw("graph.txt.gz", &problem));
  EXPECT_EQ(problem, "");
  for (const char* bad :
       {"fixed:", "fixed:x", "fixed:-1", "power-law:7", "power-law:7:", "power-law:a:9"}) {
    problem.clear();
    EXPECT_FALSE(ParseLaw(bad, &problem)) << bad;
    EXPECT_THAT(problem, HasSubstr(", as in ")) << bad;
  }
}

class File {
 public:
  explicit File(const std::string& text) : path_(::testing::TempDir() + "capacity_test.txt") {
    std::ofstream(path_) << text;
  }
  ~File() { std::remove(path_.c_str()); }
  Followers Read() const {
    LineReader lines(path_);
    return ReadFollowers(lines);
  }

 private:
  const std::string path_;
};

TEST(FollowersFile, OfCountsIsAUserPerLine) {
  const Followers read = File("# followers\n0\n10\n\n20\r\n").Read();
  EXPECT_EQ(read.users(), 3);
  EXPECT_DOUBLE_EQ(read.Of(3, PostsBy::kUsers).mean_of_users, 10);
}

TEST(FollowersFile, OfEdgesCountsWhoIsFollowedAndWhoIsNot) {
  const Followers read = File("# a graph\n0\t1\n2 1\n1 1\n3 0\n").Read();
  EXPECT_EQ(read.users(), 4);
  EXPECT_DOUBLE_EQ(read.Of(4, PostsBy::kUsers).mean_of_users, 3 / 4.);
  EXPECT_DOUBLE_EQ(read.Of(4, PostsBy::kUsers).most, 2);
}

TEST(FollowersFile, OfAnythingElseIsRefusedByLine) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      static_cast<void>(File(text).Read());
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.exit_code(), kExitData);
      return failure.what();
    }
    return "read";
  };
  EXPECT_THAT(refusal("7\n1 2\n"), HasSubstr(":2: an edge"));
  EXPECT_THAT(refusal("1 2\n7\n"), HasSubstr(":2: one id only"));
  EXPECT_THAT(refusal("1 2\nx y\n"), HasSubstr(":2: "));
  EXPECT_THAT(refusal("-7\n"), HasSubstr(":1: "));
  EXPECT_THAT(refusal("# nothing\n"), HasSubstr("names nobody"));
}

}  // namespace
}  // namespace fanline::feedctl
