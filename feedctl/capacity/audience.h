// How many followers the author of a post has: on average over posts, and at most. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fanline::feedctl {

// Whose posts they are.
enum class PostsBy {
  kUsers,      // each user posts as often as any other, whoever follows
  kFollowers,  // in proportion to the user's followers
};

struct Audience {
  double mean_of_users = 0;  // followers of a user
  double mean_of_posts = 0;  // followers of a post's author
  double most = 0;           // of one user
};

// Sums over users from which either mean follows.
class Followers {
 public:
  // `count`: users who have so many.
  void Add(double followers, double count = 1);
  // `users`: of the file or law; those not added have none. At least 1, and not below those added.
  [[nodiscard]] Audience Of(double users, PostsBy posts_by) const;
  [[nodiscard]] double users() const { return users_; }

 private:
  double users_ = 0, sum_ = 0, squares_ = 0, most_ = 0;
};

// The user of rank k has most * k^-s followers; s follows from the mean. Nothing: no s makes it so
// (1 <= mean <= most, most below the number of users).
[[nodiscard]] std::optional<Followers> PowerLaw(double users, double mean, double most);

// What is wrong with it among so many users; "": nothing.
[[nodiscard]] std::string ProblemOf(const Audience& audience, double users);

// "fixed:200", "power-law:MEAN:MOST"; everything else names a file.
struct Law {
  double mean = 0;
  std::optional<double> most = {};  // none: all have the mean
};
// Nothing, *problem empty: a file. Nothing, *problem set: no such law.
[[nodiscard]] std::optional<Law> ParseLaw(const std::string& text, std::string* problem);

}  // namespace fanline::feedctl
