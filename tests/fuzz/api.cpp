// The API: the first line is method and target as a client writes them, the rest the body. Every
// answer is JSON with the status it names; no request is a fault of the server.
#include <future>
#include <nlohmann/json.hpp>

#include "api/handler.h"
#include "fanline/base/check.h"
#include "http/answer.h"
#include "http/head.h"
#include "tests/fakes/fake_event_log.h"
#include "tests/fakes/fake_post_bodies.h"
#include "tests/fakes/fake_reader_stores.h"
#include "tests/fakes/fake_relation_store.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

using namespace fanline;
using namespace fanline::api;

namespace {

// Serves each request on empty stores.
class Api {
 public:
  http::Response Ask(const http::Request& request) {
    relations_ = fakes::FakeRelationStore();
    std::promise<http::Response> answered;
    handler_.Serve(request, [&](http::Response response) {
      answered.set_value(std::move(response));  // throws the second time
    });
    return answered.get_future().get();
  }

 private:
  fakes::FakeRelationStore relations_;
  fakes::FakeReaderStores posts_{RangeLayout(2), WindowLimits()};
  const ShardMap map_ = ShardMap::Even(2);
  Metrics metrics_;
  fakes::FakePostBodies bodies_;
  static Now Clock() { return {{}, 1'700'000'000'000}; }
  Exchanges exchanges_{relations_, relations_, posts_, posts_, &bodies_, map_, {}, Clock};
  Rebuilds rebuilds_{{}, {.at_once = 0, .waiting = 0}, metrics_, [] { return Time{}; }};
  Pages pages_{exchanges_, rebuilds_, map_, metrics_, Clock, {.columns = &bodies_.names}};
  fakes::FakeEventLog log_;
  Publisher publisher_{log_, 1, metrics_, Clock};
  Handler handler_{exchanges_, pages_, &publisher_, metrics_, Clock};
};

void CheckAnswered(const http::Response& response) {
  const auto body = nlohmann::json::parse(response.body, nullptr, false);
  FANLINE_CHECK(body.is_object(), "an answer is a JSON object");
  FANLINE_CHECK(response.status != 500, "no request is a fault of the server");
  if (response.status == 200 || response.status == 202) return;
  FANLINE_CHECK(body.value("status", 0) == response.status, "a problem names its status");
  FANLINE_CHECK(!body.value("code", "").empty() && !body.value("detail", "").empty(),
                "and its reason");
  FANLINE_CHECK(body.value("detail", "").size() <= 1024, "what was found is shortened");
}

}  // namespace

FUZZ_TARGET(api) {
  static Api api;
  const std::string line(fuzz::TakeLine(bytes));
  auto read =
      http::ReadHead(line + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\r\n", {});
  auto* head = std::get_if<http::Head>(&read);
  if (head == nullptr) return;
  head->request.body = bytes;
  const http::Response response = api.Ask(head->request);
  CheckAnswered(response);
  const std::string text = http::AnswerText(response, {}, 0);
  FANLINE_CHECK(text.find("\r\n\r\n") + 4 + response.body.size() == text.size(),
                "one head, one body");
}
