// How many followers a post's author has: the mean over posts, and the maximum. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fanline::feedctl {

// How posts are spread over users.
enum class PostsBy {
  kUsers,      // all users post equally often
  kFollowers,  // in proportion to the user's followers
};

struct Audience {
  double mean_of_users = 0;  // followers of a user
  double mean_of_posts = 0;  // followers of a post's author
  double most = 0;           // of one user
};

// Sums over users that yield both means.
class Followers {
 public:
  // `count`: how many users have that many followers.
  void Add(double followers, double count = 1);
  // `users`: all users; those not added have no followers. At least 1 and at least those added.
  [[nodiscard]] Audience Of(double users, PostsBy posts_by) const;
  [[nodiscard]] double users() const { return users_; }

 private:
  double users_ = 0, sum_ = 0, squares_ = 0, most_ = 0;
};

// The user of rank k has most * k^-s followers; s follows from the mean. Nothing: there is no such
// s. It must hold that 1 <= mean <= most < users.
[[nodiscard]] std::optional<Followers> PowerLaw(double users, double mean, double most);

// What is wrong with the audience for that many users, or "".
[[nodiscard]] std::string ProblemOf(const Audience& audience, double users);

// "fixed:200" or "power-law:MEAN:MOST"; any other text names a file.
struct Law {
  double mean = 0;
  std::optional<double> most = {};  // none: all have the mean
};
// Nothing: a file if *problem is empty, else a law with that problem.
[[nodiscard]] std::optional<Law> ParseLaw(const std::string& text, std::string* problem);

}  // namespace fanline::feedctl
