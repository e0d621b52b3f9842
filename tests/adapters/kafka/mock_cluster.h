// librdkafka's own brokers, in this process: they speak the protocol, keep logs and groups, and
// fail on demand. A member that joins a group waits 3 s; CreateTopics gets no answer.
#pragma once

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <string>
#include <vector>

namespace fanline::kafka::test {

enum class Api : int16_t {
  kProduce = 0,
  kFetch = 1,
  kListOffsets = 2,
  kOffsetCommit = 8,
  kOffsetFetch = 9,
};

class MockCluster {
 public:
  explicit MockCluster(int brokers = 1)
      : client_(rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), nullptr, 0)),
        cluster_(rd_kafka_mock_cluster_new(client_, brokers)),
        brokers_(rd_kafka_mock_cluster_bootstraps(cluster_)) {}
  ~MockCluster() {
    rd_kafka_mock_cluster_destroy(cluster_);
    rd_kafka_destroy(client_);
  }
  MockCluster(const MockCluster&) = delete;
  MockCluster& operator=(const MockCluster&) = delete;

  const std::string& brokers() const { return brokers_; }
  void CreateTopic(const std::string& name, int partitions) {
    rd_kafka_mock_topic_create(cluster_, name.c_str(), partitions, 1);
  }
  // The next requests of that kind fail with these errors, one each.
  void Fail(Api api, const std::vector<rd_kafka_resp_err_t>& errors) {
    rd_kafka_mock_push_request_errors_array(cluster_, static_cast<int16_t>(api), errors.size(),
                                            errors.data());
  }
  // Broker 0: none leads it.
  void Lead(const std::string& topic, int32_t partition, int32_t broker) {
    rd_kafka_mock_partition_set_leader(cluster_, topic.c_str(), partition,
                                       broker == 0 ? -1 : broker);
  }
  // It answers that much later.
  void Delay(int32_t broker, int ms) { rd_kafka_mock_broker_set_rtt(cluster_, broker, ms); }
  // Broker 1 has all of the group.
  void Coordinate(const std::string& group) {
    rd_kafka_mock_coordinator_set(cluster_, "group", group.c_str(), 1);
  }
  void GoDown() { rd_kafka_mock_broker_set_down(cluster_, -1); }
  void ComeUp() { rd_kafka_mock_broker_set_up(cluster_, -1); }

 private:
  rd_kafka_t* client_;
  rd_kafka_mock_cluster_t* cluster_;
  std::string brokers_;
};

}  // namespace fanline::kafka::test
