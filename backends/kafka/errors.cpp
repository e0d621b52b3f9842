#include "backends/kafka/errors.h"

#include <algorithm>
#include <iterator>

namespace fanline::kafka {
namespace {

struct Row {
  rd_kafka_resp_err_t code;
  Meaning meaning;
};

constexpr Meaning Later(const char* text) { return {Outcome::kLater, text, Reading::kGoesOn}; }
constexpr Meaning Unreachable(const char* text) {
  return {Outcome::kLater, text, Reading::kGoesOn, Cause::kAway,
          "start it or set --kafka-brokers / FANLINE_KAFKA_BROKERS"};
}
constexpr Meaning TurnedAway(const char* text, const char* advice) {
  return {Outcome::kLater, text, Reading::kGoesOn, Cause::kTurnedAway, advice};
}
constexpr Meaning NoTopic(const char* text) {
  return {Outcome::kLater, text, Reading::kGoesOn, Cause::kSetting,
          "create it with feedctl topics create"};
}
constexpr Meaning Never(const char* text) { return {Outcome::kNever, text, Reading::kGoesOn}; }
constexpr Meaning Stuck(const char* text, Reading reading) {
  return {Outcome::kLater, text, reading};
}

constexpr const char* kLogin = "set --kafka-user and --kafka-password-file (or --kafka-password)";
constexpr const char* kCertificates =
    "set ssl.ca.location in --kafka-properties / FANLINE_KAFKA_PROPERTIES";

constexpr Row kTable[] = {
    {RD_KAFKA_RESP_ERR_NO_ERROR, {Outcome::kDone, "acknowledged", Reading::kGoesOn}},

    // The record itself.
    {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, Never("larger than the topic or the client accepts")},
    {RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE, Never("larger than the topic's segments")},
    {RD_KAFKA_RESP_ERR_INVALID_RECORD, Never("the broker's validation refused the record")},
    {RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP, Never("its timestamp is out of the topic's bounds")},

    // A partition that cannot be read on.
    {RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE,
     Stuck("the log does not hold this offset", Reading::kLost)},
    {RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET,
     Stuck("the log does not hold this offset", Reading::kLost)},
    {RD_KAFKA_RESP_ERR__BAD_MSG, Stuck("the log is corrupt here", Reading::kCorrupt)},
    {RD_KAFKA_RESP_ERR__BAD_COMPRESSION, Stuck("the log is corrupt here", Reading::kCorrupt)},
    {RD_KAFKA_RESP_ERR_INVALID_MSG, Stuck("the log is corrupt here", Reading::kCorrupt)},

    // Brokers away, slow or changing places.
    {RD_KAFKA_RESP_ERR__TRANSPORT, Unreachable("no connection to the broker")},
    {RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, Unreachable("no broker can be reached")},
    {RD_KAFKA_RESP_ERR__RESOLVE, Unreachable("the broker's name does not resolve")},
    {RD_KAFKA_RESP_ERR__TIMED_OUT, Unreachable("no answer in time")},
    {RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, Later("not acknowledged in time")},
    {RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, Later("the broker's replicas did not answer in time")},
    {RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, Later("too few replicas in sync")},
    {RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND, Later("too few replicas in sync")},
    {RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, Later("the partition's leader changed")},
    {RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, Later("the partition has no leader")},
    {RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR, Later("the broker's disk failed")},

    // Our own queue, or our own end.
    {RD_KAFKA_RESP_ERR__QUEUE_FULL, Later("the send queue is full")},
    {RD_KAFKA_RESP_ERR__PURGE_QUEUE, Later("taken back before it was sent")},
    {RD_KAFKA_RESP_ERR__PURGE_INFLIGHT, Later("given up while it was being sent")},
    {RD_KAFKA_RESP_ERR__DESTROY, Later("the client is shutting down")},
    {RD_KAFKA_RESP_ERR__FATAL, Later("the client must be made anew")},

    // An operator must mend these; until then everything waits.
    {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, NoTopic("the topic or partition does not exist")},
    {RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, NoTopic("the topic does not exist")},
    {RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, Later("the topic has no such partition")},
    {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, Later("not allowed to use the topic")},
    {RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, Later("not allowed to use the group")},
    {RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, Later("not allowed by the cluster")},
    {RD_KAFKA_RESP_ERR__AUTHENTICATION, TurnedAway("the broker refused our credentials", kLogin)},
    {RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,
     TurnedAway("the broker refused our credentials", kLogin)},
    {RD_KAFKA_RESP_ERR__SSL, TurnedAway(nullptr, kCertificates)},

    // The group moved on: the partition is or will be somebody else's.
    {RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, Later("the group has rebalanced since")},
    {RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, Later("the group has let us go")},
    {RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, Later("the group is rebalancing")},
    {RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED, Later("left the group: no poll for too long")},

    // Orders to make a topic that no cluster will follow.
    {RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS, Never("the topic exists")},
    {RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION, Never("not a valid topic name")},
    {RD_KAFKA_RESP_ERR_INVALID_PARTITIONS, Never("not a valid number of partitions")},
    {RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR, Never("more replicas than brokers")},
    {RD_KAFKA_RESP_ERR_INVALID_CONFIG, Never("not a valid topic setting")},
    {RD_KAFKA_RESP_ERR_POLICY_VIOLATION, Never("the cluster's policy forbids it")},
    {RD_KAFKA_RESP_ERR__INVALID_ARG, Never("not a valid argument")},
};

}  // namespace

Meaning MeaningOf(rd_kafka_resp_err_t code) {
  const auto* row = std::find_if(std::begin(kTable), std::end(kTable),
                                 [code](const Row& candidate) { return candidate.code == code; });
  return row == std::end(kTable) ? Meaning{} : row->meaning;
}

std::string Describe(rd_kafka_resp_err_t code) {
  const char* text = MeaningOf(code).text;
  return std::string(text != nullptr ? text : rd_kafka_err2str(code)) + " (" +
         rd_kafka_err2name(code) + ")";
}

Status StatusOf(rd_kafka_resp_err_t code, std::string_view what) {
  const Meaning meaning = MeaningOf(code);
  if (meaning.outcome == Outcome::kDone) return Status::Done();
  std::string message = std::string(what) + ": " + Describe(code);
  if (meaning.outcome == Outcome::kNever) return Status::Never(std::move(message));
  Status status = Status::Later("kafka", std::move(message));
  status.cause = meaning.cause;
  status.advice = meaning.advice;
  return status;
}

}  // namespace fanline::kafka
