// The world of the API's tests: a handler on fake stores, which gets requests as HTTP text.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "api/handler.h"
#include "api/operations/routes.h"
#include "tests/fakes/fake_event_log.h"
#include "tests/fakes/fake_post_bodies.h"
#include "tests/fakes/fake_reader_stores.h"
#include "tests/fakes/fake_relation_store.h"
#include "timeline/reader.h"

namespace fanline::api {

class CountingMetrics : public Metrics {
 public:
  void Answered(std::string_view route, int status, Duration) override {
    answered.push_back(std::string(route) + " " + std::to_string(status));
  }
  void StoreFailed(std::string_view route, const std::string& resource,
                   const std::string& reason) override {
    failed.push_back(std::string(route) + " " + resource + " " + reason);
  }
  void RebuildEnded(timeline::RebuildResult result) override {
    if (result == timeline::RebuildResult::kRebuilt) ++rebuilt;
  }
  void PageServed(PageFacts::State) override { ++pages; }
  void IncompleteServed() override { ++incomplete; }
  void BodiesServed(bool available, size_t gone) override {
    bodies.push_back(std::string(available ? "complete" : "unavailable") + ", gone " +
                     std::to_string(gone));
  }

  std::atomic<int> rebuilt = 0, pages = 0, incomplete = 0;  // pages: of home timelines
  std::vector<std::string> bodies;
  std::vector<std::string> answered, failed;
};

// "PUT /v1/users/5/following/7" or "GET /v1/users/5/friends?limit=2&cursor=x", not decoded.
inline Request RequestOf(const std::string& line, const std::string& body = {},
                         const std::string& content_type = "application/json") {
  Request request;
  const size_t blank = line.find(' ');
  request.method = line.substr(0, blank);
  const std::string target = line.substr(blank + 1);
  const size_t mark = target.find('?');
  request.path = target.substr(0, mark);
  std::istringstream query(mark == std::string::npos ? "" : target.substr(mark + 1));
  for (std::string pair; std::getline(query, pair, '&');) {
    const size_t equals = pair.find('=');
    request.params.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
  }
  request.body = body;
  const bool has_body = request.method == "POST" || request.method == "PATCH";
  if (!body.empty() || has_body) request.content_type = content_type;
  return request;
}

inline std::vector<std::string> Ids(const nlohmann::json& page) {
  std::vector<std::string> ids;
  for (const nlohmann::json& item : page["items"]) ids.push_back(item["id"]);
  return ids;
}

struct World {
  World() {
    const auto clock = [this] { return Now{mono.load(), now}; };
    posts.as_of = [this] { return now; };
    posts.redis.rules.fence = false;
    relations.change_mutes = [this](const ChangeMutes& change) {
      return posts.mysql.relations.Do(change);
    };
    relations.reposters = [this](const ReadReposters& asked) { return posts.mysql.Do(asked); };
    relations.reposts_by = [this](const ReadRepostsBy& asked) { return posts.mysql.Do(asked); };
    exchanges = std::make_unique<Exchanges>(relations, relations, posts, posts, &texts, map,
                                            Exchanges::Rules(), clock);
    rebuilds = std::make_unique<Rebuilds>(
        Rebuilds::By(*exchanges, map,
                     {WindowLimits{6, 26}, [this] { return std::to_string(++tokens); }}, metrics),
        Rebuilds::Limits{.at_once = 1, .waiting = 100, .strangers = 2}, metrics,
        [this] { return mono.load(); });
    pages = std::make_unique<Pages>(*exchanges, *rebuilds, map, metrics, clock,
                                    Pages::Rules{.columns = &texts.names, .pulls = kPulls});
    publisher = std::make_unique<Publisher>(log, 2, metrics, clock);
    handler = std::make_unique<Handler>(*exchanges, *pages, publisher.get(), metrics, clock);
  }

  // `line`: as for RequestOf.
  Response Ask(const std::string& line, const std::string& body = {},
               const std::string& content_type = "application/json") {
    const Request request = RequestOf(line, body, content_type);
    std::promise<Response> answered;
    handler->Serve(request, [&](Response response) { answered.set_value(std::move(response)); });
    return answered.get_future().get();
  }

  // The body of the answer, which must have that status.
  nlohmann::json Json(const std::string& line, int status = 200, const std::string& body = {}) {
    const Response response = Ask(line, body);
    EXPECT_EQ(response.status, status) << line << ": " << response.body;
    return nlohmann::json::parse(response.body);
  }
  // Only the answer's code.
  std::string Code(const std::string& line, int status, const std::string& body = {}) {
    return Json(line, status, body).value("code", "");
  }
  // Ids of all pages below /v1/users/.
  std::vector<std::string> Walk(const std::string& path, const std::string& query) {
    std::vector<std::string> walked;
    std::string cursor;
    do {
      const nlohmann::json page =
          Json("GET /v1/users/" + path + "?" + query + (cursor.empty() ? "" : "&cursor=" + cursor));
      for (const std::string& id : Ids(page)) walked.push_back(id);
      cursor = page.value("next_cursor", "");
    } while (!cursor.empty());
    return walked;
  }

  void Publish(uint64_t author, uint64_t post, UnixMs at, Original repost_of = {}) {
    posts.mysql.Do(ApplyEvents{
        1, 0, {{EventKind::kPublished, PostId{post}, UserId{author}, at, 0, repost_of}}});
  }
  // Gives up if they do not come; the test's next expectation then fails.
  void WaitUntilRebuilt(int times) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (metrics.rebuilt < times && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
  }

  static constexpr uint32_t kPulls = 8;

  UnixMs now = 1'700'000'000'000;
  std::atomic<Time> mono = Time{};
  const ShardMap map = ShardMap::Even(1);
  CountingMetrics metrics;
  fakes::FakeRelationStore relations;
  fakes::FakeReaderStores posts{RangeLayout(2), WindowLimits{6, 26}};  // and timelines
  fakes::FakePostBodies texts;
  int tokens = 0;
  std::unique_ptr<Exchanges> exchanges;
  std::unique_ptr<Rebuilds> rebuilds;
  std::unique_ptr<Pages> pages;
  fakes::FakeEventLog log;
  std::unique_ptr<Publisher> publisher;
  std::unique_ptr<Handler> handler;
};

}  // namespace fanline::api
