#include "feedctl/capacity/audience.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

constexpr uint64_t kRanksOneByOne = 10'000;
constexpr double kRanksGrowBy = 1.001;  // after them, ranks are summed in groups
constexpr double kSteepest = 20;        // nearly all followers are the first user's
constexpr int kHalvings = 60;

// Calls `each` for groups of ranks with the rank that represents the group, and its size.
template <class Each>
void ForEachRank(double users, const Each& each) {
  double rank = 1;
  while (rank <= users) {
    const double next =
        rank < kRanksOneByOne ? rank + 1 : std::min(std::ceil(rank * kRanksGrowBy), users + 1);
    each((rank + next - 1) / 2, next - rank);
    rank = next;
  }
}

Followers LawOf(double users, double most, double slope) {
  Followers followers;
  ForEachRank(users, [&](double rank, double count) {
    followers.Add(most * std::pow(rank, -slope), count);
  });
  return followers;
}

std::optional<double> ParseDouble(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0)) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::string_view> Behind(std::string_view head, std::string_view text) {
  if (!text.starts_with(head)) return std::nullopt;
  return text.substr(head.size());
}

}  // namespace

void Followers::Add(double followers, double count) {
  users_ += count;
  sum_ += followers * count;
  squares_ += followers * followers * count;
  most_ = std::max(most_, followers);
}

Audience Followers::Of(double users, PostsBy posts_by) const {
  Audience audience;
  audience.mean_of_users = sum_ / users;
  const double weighted = sum_ > 0 ? squares_ / sum_ : 0;
  audience.mean_of_posts = posts_by == PostsBy::kFollowers ? weighted : audience.mean_of_users;
  audience.most = most_;
  return audience;
}

std::optional<Followers> PowerLaw(double users, double mean, double most) {
  if (mean < 1 || mean > most || most >= users) return std::nullopt;
  double flat = 0, steep = kSteepest;  // means from `most` down to most / users
  if (most / users > mean) return std::nullopt;
  for (int i = 0; i < kHalvings; ++i) {
    const double slope = (flat + steep) / 2;
    const double found = LawOf(users, most, slope).Of(users, PostsBy::kUsers).mean_of_users;
    (found > mean ? flat : steep) = slope;
  }
  return LawOf(users, most, steep);
}

std::string ProblemOf(const Audience& audience, double users) {
  if (audience.most < users) return "";  // nobody follows themselves
  const auto number = [](double value) {
    return Grouped(static_cast<uint64_t>(std::min(value, 1e18)));
  };
  return "somebody has " + number(audience.most) + " followers, which --users " + number(users) +
         " cannot be";
}

std::optional<Law> ParseLaw(const std::string& text, std::string* problem) {
  if (const auto fixed = Behind("fixed:", text)) {
    if (const auto mean = ParseDouble(*fixed)) return Law{*mean, std::nullopt};
    *problem = "after fixed: comes a number of followers, as in fixed:200";
  } else if (const auto law = Behind("power-law:", text)) {
    const size_t colon = law->find(':');
    const auto mean = ParseDouble(law->substr(0, colon));
    const auto most = colon == law->npos ? std::nullopt : ParseDouble(law->substr(colon + 1));
    if (mean && most) return Law{*mean, *most};
    *problem = "after power-law: come the mean and the most followers, as in power-law:70:1000000";
  }
  return std::nullopt;
}

}  // namespace fanline::feedctl
