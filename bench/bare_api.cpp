// fanline-bench-bare-api: the other side of fanline-api. The same HTTP library; each request is one
// plain ZRANGE of the newest items, and they go into a JSON body as they came. No check of a
// cursor, no state, no rebuild. Serves on --port until SIGTERM.
#include <hiredis/hiredis.h>
#include <signal.h>

#include <cstdio>
#include <memory>
#include <string>

#include "backends/mysql/installation/installation.h"
#include "backends/options/mysql_settings.h"
#include "backends/options/redis_settings.h"
#include "backends/redis/keys.h"
#include "bench/round.h"
#include "daemon/options/options.h"
#include "daemon/run/main_guard.h"
#include "http/server.h"

using namespace fanline;

namespace {

struct Config {
  options::MysqlSettings mysql;
  options::RedisSettings redis;
  options::TimelineSettings timelines;
  uint64_t port = 0, threads = 33;  // as many as fanline-api has
};

class Bare : public http::Service {
 public:
  Bare(const Endpoint& redis, const redis::Options& options) : redis_(redis), keys_(options) {}

  // /v1/users/{user}/timeline?limit={limit}
  void Serve(http::Request request, Answer answer) override {
    const std::string_view user = std::string_view(request.path).substr(sizeof "/v1/users/" - 1);
    const auto id = ParseId(user.substr(0, user.find('/')));
    const auto key = keys_.Timeline(UserId{id.value()});
    const std::unique_ptr<redisReply, void (*)(void*)> reply(
        static_cast<redisReply*>(redisCommand(Connection(), "ZRANGE %s 1 %s WITHSCORES",
                                              std::string(std::string_view(key)).c_str(),
                                              request.params.at(0).second.c_str())),
        freeReplyObject);
    bench::Must(reply != nullptr && reply->type == REDIS_REPLY_ARRAY, "Redis");
    http::Response response;
    response.body = "{\"items\":[";
    for (size_t i = 0; i + 1 < reply->elements; i += 2) {
      response.body += i == 0 ? "{\"id\":\"" : ",{\"id\":\"";
      response.body.append(reply->element[i]->str, reply->element[i]->len);
      response.body += "\",\"created_at_ms\":";
      response.body.append(reply->element[i + 1]->str + 1, reply->element[i + 1]->len - 1);
      response.body += '}';
    }
    response.body += "]}";
    answer(std::move(response));
  }
  http::Response Refuse(int status, const std::string& detail) override {
    return {.status = status, .content_type = "text/plain", .body = detail, .headers = {}};
  }

 private:
  redisContext* Connection() const {
    thread_local const std::unique_ptr<redisContext, void (*)(redisContext*)> context(
        redisConnect(redis_.host.c_str(), redis_.port), redisFree);
    bench::Must(context != nullptr && context->err == 0, "no connection to Redis");
    return context.get();
  }

  const Endpoint redis_;
  const redis::Keys keys_;
};

int Main(int argc, char** argv) {
  Config config;
  daemon::OptionTable table("fanline-bench-bare-api", "plain ZRANGE over HTTP");
  options::AddOptions(table, config.mysql);
  options::AddOptions(table, config.redis);
  options::AddOptions(table, config.timelines);
  table.Add("port", &config.port, "to listen on").Required();
  table.Add("threads", &config.threads, "of the server").AtLeast(2);
  table.ParseOrExit(argc, argv);

  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stops, nullptr);
  mysql::Installation installation;
  bench::Must(mysql::ReadInstallation(options::ToConfig(config.mysql), &installation));
  Bare bare(config.redis.addresses().front(),
            options::ToOptions(config.redis, config.timelines, installation));
  http::Limits limits;
  limits.threads = config.threads;
  http::Server server("127.0.0.1", static_cast<uint16_t>(config.port), limits, bare);
  int signal = 0;
  sigwait(&stops, &signal);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-bench-bare-api", [&] { return Main(argc, argv); });
}
