// The jobs that wait for the workers of one store, or of one shard, and the choice of the next one.
//
// Each class of work has a bounded queue and a number of workers reserved for it. The remaining
// workers serve all classes in turns. A queue is served in the order of arrival until its oldest
// job has waited for `newest_first_after`. From then on the newest job is next, so that under
// overload some jobs are served in time instead of all too late. A full queue refuses new jobs in
// the first case, and drops its oldest job for a new one in the second.
//
// A job that is late, or that nobody waits for any more, is never given to a worker. It is dropped
// when it is the oldest of its queue or when its turn comes; every call looks at both. DropLate
// looks at all jobs, so that one that may wait for longer holds up nobody behind it. It is also for
// times without calls.
//
// Passive; not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fanline/base/check.h"
#include "fanline/base/outcome.h"
#include "fanline/base/time.h"
#include "fanline/base/turn.h"

namespace fanline {

struct ClassLimits {
  size_t reserved = 0;    // workers of each shard for this class alone
  size_t queue = 65'536;  // jobs waiting, per shard
};

template <class Job>
class TurnQueue {
 public:
  enum class Why { kFull, kLate, kDead };
  struct Dropped {
    Job job;
    Why why;
    Duration wait;  // expected time until its class has worked off what waits; 0: not known yet

    // What its asker is told.
    Status StatusOf(const std::string& resource) const {
      Status status = Status::Later(
          resource, why == Why::kFull   ? "queue full: as many requests are waiting as may wait"
                    : why == Why::kLate ? "it was not served in time"
                                        : "nobody waits for it any more");
      status.cause = Cause::kOverloaded;
      status.wait = wait;
      return status;
    }
  };

  // `classes` is not empty. Together they reserve at most all workers.
  TurnQueue(std::span<const ClassLimits> classes, size_t workers, Duration newest_first_after)
      : newest_first_after_(newest_first_after), common_(workers) {
    for (const ClassLimits& limits : classes) {
      FANLINE_CHECK(limits.reserved <= common_, "classes reserve no more workers than there are");
      common_ -= limits.reserved;
      classes_.push_back({.limits = limits});
    }
  }

  void Push(Job job, Turn turn, Time now, std::vector<Dropped>* dropped) {
    Class& its = classes_.at(turn.work_class);
    DropOldest(its, now, dropped);
    if (its.waiting.size() >= its.limits.queue) {
      if (!NewestFirst(its, now)) {
        return dropped->push_back({std::move(job), Why::kFull, WaitOf(its)});
      }
      dropped->push_back({std::move(its.waiting.front().job), Why::kFull, WaitOf(its)});
      its.waiting.pop_front();
    }
    its.waiting.push_back({std::move(job), std::move(turn), now});
  }

  // Whether a job waits that a worker may take.
  bool ready() const {
    for (const Class& its : classes_) {
      if (MayTake(its)) return true;
    }
    return false;
  }

  struct Batch {
    size_t work_class = 0;
    std::vector<Job> jobs;  // all of one class
  };

  // Takes jobs for one worker, which calls Served when it is done with them. Empty: there is no job
  // that it may take.
  Batch Take(size_t most, Time now, std::vector<Dropped>* dropped) {
    for (size_t i = 0; i < classes_.size(); ++i) {
      const size_t work_class = (next_ + i) % classes_.size();
      Class& its = classes_[work_class];
      if (!MayTake(its)) continue;
      std::vector<Job> jobs = TakeFrom(its, most, now, dropped);
      if (jobs.empty()) continue;
      next_ = work_class + 1;
      ++its.workers;
      return {work_class, std::move(jobs)};
    }
    return {};
  }
  void Served(size_t work_class) { --classes_[work_class].workers; }

  void DropLate(Time now, std::vector<Dropped>* dropped) {
    for (Class& its : classes_) {
      std::deque<Waiting> fresh;
      for (Waiting& waiting : its.waiting) {
        if (!Drop(its, waiting, now, dropped)) fresh.push_back(std::move(waiting));
      }
      its.waiting = std::move(fresh);
    }
  }

  // Of the classes from `first` up to `last`.
  size_t waiting(size_t first = 0, size_t last = SIZE_MAX) const {
    size_t sum = 0;
    for (size_t i = first; i <= last && i < classes_.size(); ++i) sum += classes_[i].waiting.size();
    return sum;
  }

  // Removes and returns all waiting jobs.
  std::vector<Job> Clear() {
    std::vector<Job> jobs;
    for (Class& its : classes_) {
      for (Waiting& waiting : its.waiting) jobs.push_back(std::move(waiting.job));
      its.waiting.clear();
    }
    return jobs;
  }

 private:
  struct Waiting {
    Job job;
    Turn turn;
    Time since;
  };
  struct Class {
    ClassLimits limits;
    std::deque<Waiting> waiting = {};  // in the order of arrival
    size_t workers = 0;                // now serving it
    // The average time between two jobs taken while others wait.
    Duration pace{};
    Time taken{};
    bool left_some = false;  // whether jobs were left waiting at `taken`
  };

  bool MayTake(const Class& its) const {
    if (its.waiting.empty()) return false;
    return its.workers < its.limits.reserved || CommonInUse() < common_;
  }
  size_t CommonInUse() const {
    return std::accumulate(classes_.begin(), classes_.end(), size_t{0},
                           [](size_t sum, const Class& its) {
                             return sum + its.workers - std::min(its.workers, its.limits.reserved);
                           });
  }

  bool NewestFirst(const Class& its, Time now) const {
    return !its.waiting.empty() && now - its.waiting.front().since > newest_first_after_;
  }

  static bool Drop(Class& its, Waiting& waiting, Time now, std::vector<Dropped>* dropped) {
    const bool late = waiting.turn.Late(now);
    if (!late && !waiting.turn.Dead()) return false;
    dropped->push_back({std::move(waiting.job), late ? Why::kLate : Why::kDead, WaitOf(its)});
    return true;
  }
  static void DropOldest(Class& its, Time now, std::vector<Dropped>* dropped) {
    while (!its.waiting.empty() && Drop(its, its.waiting.front(), now, dropped)) {
      its.waiting.pop_front();
    }
  }

  std::vector<Job> TakeFrom(Class& its, size_t most, Time now, std::vector<Dropped>* dropped) {
    std::vector<Job> jobs;
    DropOldest(its, now, dropped);
    const bool newest_first = NewestFirst(its, now);
    while (!its.waiting.empty() && jobs.size() < most) {
      Waiting& next = newest_first ? its.waiting.back() : its.waiting.front();
      if (!Drop(its, next, now, dropped)) jobs.push_back(std::move(next.job));
      newest_first ? its.waiting.pop_back() : its.waiting.pop_front();
    }
    if (!jobs.empty()) NotePace(its, jobs.size(), now);
    return jobs;
  }

  static void NotePace(Class& its, size_t jobs, Time now) {
    if (its.left_some) {
      const Duration pace = (now - its.taken) / static_cast<int64_t>(jobs);
      its.pace = its.pace == Duration::zero() ? pace : its.pace + (pace - its.pace) / 8;
    }
    its.taken = now;
    its.left_some = !its.waiting.empty();
  }
  static Duration WaitOf(const Class& its) {
    return its.pace * static_cast<int64_t>(its.waiting.size());
  }

  Duration newest_first_after_;
  size_t common_;  // workers reserved for no class
  std::vector<Class> classes_;
  size_t next_ = 0;  // the class to ask first
};

}  // namespace fanline
