// feedctl capacity: what an installation of a given size needs, from what `make bench` measured.
// Asks no service.
#include <cmath>
#include <cstdio>

#include "fanline/model/bucket.h"
#include "feedctl/capacity/bench_report.h"
#include "feedctl/capacity/followers_file.h"
#include "feedctl/capacity/plan.h"
#include "feedctl/commands/command.h"
#include "feedctl/support/json.h"
#include "feedctl/support/line_reader.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

constexpr double kMib = 1024 * 1024;
constexpr const char* kLaws = "give a file, fixed:N or power-law:MEAN:MOST";

using Lines = std::vector<std::vector<std::string>>;

// Adds advice to the failure if the file is missing.
LineReader Opened(const std::string& path, const std::string& advice) {
  try {
    return LineReader(path);
  } catch (const Failure& failure) {
    throw Failure(failure.exit_code(), failure.what() + ("; " + advice));
  }
}

std::string ReadWhole(LineReader lines) {
  std::string text;
  std::string_view line;
  while (lines.Next(&line)) text.append(line).append("\n");
  return text;
}

std::string Fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string Rounded(double value) {
  if (value < 10) return Fixed(value, value < 1 ? 2 : 1);
  return Grouped(static_cast<uint64_t>(std::llround(std::min(value, 1e18))));
}

std::string Milliseconds(double seconds) { return Rounded(seconds * 1e3) + " ms"; }

class Capacity : public Command {
 public:
  Capacity(daemon::OptionTable& table, Settings& settings) : Command(settings) {
    table.Add("users", &demand_.users, "users of the installation")
        .Range(1, 100'000'000'000)
        .Required();
    table
        .Add("followers-distribution", &distribution_,
             "how many followers users have: fixed:N, power-law:MEAN:MOST, or a file with a count "
             "or an edge per line, also gzipped")
        .Required();
    table.Add("posts-per-s", &demand_.posts_per_s, "posts a second, at the peak")
        .Range(0, 1'000'000'000)
        .Required();
    table
        .Add("live-ratio", &demand_.live_ratio,
             "share of the users with a live timeline: read within --timeline-ttl")
        .Range(0, 1)
        .Required();
    table
        .Add("live-followers-ratio", &live_followers_,
             "share of the followers of posting users with one; -1: as for all users")
        .Range(-1, 1);
    table.Add("posts-by",
              daemon::ChoiceOf(&posts_by_,
                               {{"users", PostsBy::kUsers}, {"followers", PostsBy::kFollowers}}),
              "whether all users post equally often, or in proportion to their followers");
    table.Add("cores", &demand_.cores, "cores available; 0: as many as --load requires")
        .Range(0, 1'000'000);
    table.Add("load", &demand_.load, "share of the cores that may be busy at the peak").Range(0, 1);
    table.Add("ranges", &demand_.ranges, "of the installation; 0: as feedctl init suggests")
        .Range(0, kBuckets);
    table.Add("window", &demand_.window.window, "items a live timeline keeps").Range(1, 100'000);
    table.Add("timeline-max-entries", &demand_.window.max_entries, "members it never exceeds")
        .Range(1, 100'000);
    table.Add("encoding",
              daemon::ChoiceOf(
                  &encoding_, {{"compact", Encoding::kCompact}, {"skiplist", Encoding::kSkiplist}}),
              "of timelines in Redis: skiplist where zset-max-listpack-entries is too small");
    table.Add("report", &report_, "what make bench wrote, on such a machine");
    table.Add("json", &json_, "print the plan as one JSON object");
  }

  int Run(Interrupt&) override {
    RequireUsage(demand_.window.fits() ? "" : "--timeline-max-entries: must exceed --window by 18");
    RequireUsage(demand_.load > 0 ? "" : "--load: must be above 0");
    RequireUsage(demand_.ranges == 0 || RangeLayout::Divides(demand_.ranges)
                     ? ""
                     : "--ranges: a power of 2 up to 1024, or 0");
    demand_.live_followers_ratio = live_followers_ < 0 ? demand_.live_ratio : live_followers_;
    demand_.audience = ReadAudience();
    std::string problem = ProblemOf(demand_.audience, demand_.users);
    RequireUsage(problem.empty() ? "" : "--followers-distribution: " + problem);
    const std::string measure =
        "type " + HowToMeasure(encoding_) + ", or name by --report what that wrote elsewhere";
    const auto constants = ReadConstants(ReadWhole(Opened(report_, measure)), encoding_, &problem);
    if (!constants) throw Failure(kExitData, report_ + ": " + problem);
    const Plan plan = PlanFor(demand_, *constants);
    json_ ? PrintJson(plan, *constants) : PrintText(plan, *constants);
    return 0;
  }

 private:
  Audience ReadAudience() const {
    std::string problem;
    const auto law = ParseLaw(distribution_, &problem);
    RequireUsage(problem.empty() ? "" : "--followers-distribution: " + problem);
    if (!law) {
      LineReader lines = Opened(distribution_, kLaws);
      const Followers read = ReadFollowers(lines);
      return read.Of(read.users(), posts_by_);
    }
    if (!law->most) {
      Followers all;
      all.Add(law->mean, demand_.users);
      return all.Of(demand_.users, posts_by_);
    }
    const auto followers = PowerLaw(demand_.users, law->mean, *law->most);
    RequireUsage(followers ? ""
                           : "--followers-distribution: no power law of that many users has this "
                             "mean and maximum: 1 <= MEAN <= MOST < --users");
    return followers->Of(demand_.users, posts_by_);
  }

  static void PrintText(const Plan& plan, const Constants& measured) {
    Lines lines = {
        {"live timelines", Rounded(plan.live_timelines),
         Rounded(plan.bytes_per_timeline) + " bytes each"},
        {"Redis memory", Rounded(plan.redis_bytes / kMib) + " MiB",
         "give each master a maxmemory of " + Rounded(plan.maxmemory_bytes / kMib) +
             " MiB, and each replica as much"},
        {"Redis masters", std::to_string(plan.masters), "one core each"},
        {"deliveries", Rounded(plan.deliveries_per_s) + "/s",
         Rounded(plan.work.followers) + " followers of a post's author, " +
             Rounded(plan.work.live) + " of them live"},
    };
    for (const auto& [process, busy] : plan.busy) {
      lines.push_back({"busy cores: " + process, Fixed(busy, 2)});
    }
    lines.insert(lines.end(),
                 {{"busy cores", Fixed(plan.busy_cores, 2), "of all processes"},
                  {"cores", Rounded(plan.cores),
                   Fixed(100 * plan.busy_cores / plan.cores, 0) +
                       "% of them busy, of such a machine: " + measured.machine},
                  {"Kafka partitions", std::to_string(plan.ranges),
                   "of the tasks topic: feedctl init --ranges " + std::to_string(plan.ranges)},
                  {"", std::to_string(plan.feed_partitions),
                   "of the feed topic: feedctl topics create --feed-partitions " +
                       std::to_string(plan.feed_partitions)},
                  {"hints", Rounded(plan.hints_per_s) + "/s", "written to the tasks topic"}});
    AddLag(plan, lines);
    std::fputs(Columns(lines).c_str(), stdout);
  }

  static void AddLag(const Plan& plan, Lines& lines) {
    if (plan.lag) {
      lines.push_back(
          {"expected lag", Milliseconds(plan.lag->p50), "publish to last delivery, half of posts"});
      lines.push_back({"", Milliseconds(plan.lag->p99), "99 of 100"});
    } else if (plan.busy_cores >= plan.cores) {
      lines.push_back(
          {"expected lag", "grows", "there are fewer cores than are needed: raise --cores"});
    } else {
      lines.push_back({"expected lag", "unknown",
                       "it was measured up to " + Fixed(100 * plan.measured_load, 0) +
                           "% of the cores busy: raise --cores, or lower --load"});
    }
    if (plan.largest_s) {
      lines.push_back(
          {"", Milliseconds(*plan.largest_s), "more for the author with most followers"});
    }
  }

  void PrintJson(const Plan& plan, const Constants& measured) const {
    Json busy = Json::object();
    for (const auto& [process, cores] : plan.busy) busy[process] = cores;
    PutJson({{"live_timelines", plan.live_timelines},
             {"bytes_per_timeline", plan.bytes_per_timeline},
             {"redis_bytes", plan.redis_bytes},
             {"redis_maxmemory_bytes", plan.maxmemory_bytes},
             {"redis_masters", plan.masters},
             {"followers_per_post", plan.work.followers},
             {"live_followers_per_post", plan.work.live},
             {"deliveries_per_s", plan.deliveries_per_s},
             {"hints_per_s", plan.hints_per_s},
             {"busy_cores", std::move(busy)},
             {"busy_cores_total", plan.busy_cores},
             {"cores", plan.cores},
             {"tasks_partitions", plan.ranges},
             {"feed_partitions", plan.feed_partitions},
             {"lag_p50_s", plan.lag ? Json(plan.lag->p50) : Json()},
             {"lag_p99_s", plan.lag ? Json(plan.lag->p99) : Json()},
             {"largest_author_s", plan.largest_s ? Json(*plan.largest_s) : Json()},
             {"machine", measured.machine}});
  }

  Demand demand_;
  std::string distribution_;
  double live_followers_ = -1;
  PostsBy posts_by_ = PostsBy::kUsers;
  Encoding encoding_ = Encoding::kCompact;
  std::string report_ = "build/bench/report.json";
  bool json_ = false;
};

}  // namespace

extern const Row kCapacity =
    RowOf<Capacity>("capacity", "says what an installation of some size needs, as measured here");

}  // namespace fanline::feedctl
