// Serves pages of posts. A home timeline is asked for in Redis; what the live timeline does not
// hold is pulled from the shards, and a timeline that is not live is made live behind the answer.
// Redis being away, or busy, is no failure of a page. Why an empty timeline is empty, the shards
// say.
//
// Thread-safe. A page that Redis answers alone is served on the caller's thread when a connection
// is free; pulls are left to the threads of their pool.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "api/empty_reasons.h"
#include "api/metrics.h"
#include "api/operations/call.h"
#include "api/rebuilds.h"
#include "api/store_pool.h"
#include "fanline/base/time.h"
#include "fanline/model/bucket.h"

namespace fanline::api {

class Pages {
 public:
  // All outlive it, and the pools also outlive the pages they were given. `clock`: any thread.
  Pages(TimelinePool& timelines, TruthPool& truth, Rebuilds& rebuilds, const ShardMap& map,
        Metrics& metrics, std::function<Now()> clock)
      : timelines_(timelines),
        truth_(truth),
        rebuilds_(rebuilds),
        map_(map),
        metrics_(metrics),
        clock_(std::move(clock)) {}

  // Called once, on any thread.
  using Answer = std::function<void(Response)>;
  // `route` is of a static table.
  void Serve(std::shared_ptr<const PageCall> call, std::string_view route, Answer answer);

 private:
  struct Serving;
  using Shared = std::shared_ptr<Serving>;

  void ServeHome(const Shared& page);
  void Pull(const Shared& page);
  void ServePosts(const Shared& page);
  void LookUpReason(const Shared& page);
  void FindReason(Serving& page, ReaderTruth& truth);
  void AnswerHome(Serving& page);
  void Fail(Serving& page, const Status& status);

  TimelinePool& timelines_;
  TruthPool& truth_;
  Rebuilds& rebuilds_;
  const ShardMap& map_;
  Metrics& metrics_;
  const std::function<Now()> clock_;
  EmptyReasons reasons_;
};

}  // namespace fanline::api
