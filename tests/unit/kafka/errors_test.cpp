#include "backends/kafka/errors.h"

#include <gtest/gtest.h>

namespace fanline::kafka {
namespace {

TEST(KafkaErrors, OnlyWhatIsWrongWithTheRecordItselfIsNever) {
  EXPECT_TRUE(StatusOf(RD_KAFKA_RESP_ERR_NO_ERROR, "x").done());
  for (const auto code :
       {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE,
        RD_KAFKA_RESP_ERR_INVALID_RECORD, RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP})
    EXPECT_EQ(MeaningOf(code).outcome, Outcome::kNever) << rd_kafka_err2name(code);
  for (const auto code :
       {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION,
        RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR__AUTHENTICATION,
        RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, RD_KAFKA_RESP_ERR__QUEUE_FULL, RD_KAFKA_RESP_ERR__FATAL,
        RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS})
    EXPECT_EQ(MeaningOf(code).outcome, Outcome::kLater) << rd_kafka_err2name(code);
}

// Quarantining on an error nobody thought of would lose what a retry might save.
TEST(KafkaErrors, AnUnlistedErrorIsLaterInLibrdkafkasWords) {
  const Status status = StatusOf(RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT, "committing");
  EXPECT_TRUE(status.later());
  EXPECT_EQ(status.resource, "kafka");
  EXPECT_NE(status.message.find("committing: "), std::string::npos);
  EXPECT_NE(status.message.find("(UNSTABLE_OFFSET_COMMIT)"), std::string::npos);
}

TEST(KafkaErrors, ALostPositionAndACorruptLogAreToldFromABrokerThatIsAway) {
  EXPECT_EQ(MeaningOf(RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET).reading, Reading::kLost);
  EXPECT_EQ(MeaningOf(RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE).reading, Reading::kLost);
  EXPECT_EQ(MeaningOf(RD_KAFKA_RESP_ERR__BAD_MSG).reading, Reading::kCorrupt);
  EXPECT_EQ(MeaningOf(RD_KAFKA_RESP_ERR_INVALID_MSG).reading, Reading::kCorrupt);
  EXPECT_EQ(MeaningOf(RD_KAFKA_RESP_ERR__TRANSPORT).reading, Reading::kGoesOn);
  EXPECT_EQ(MeaningOf(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART).reading, Reading::kGoesOn);
}

TEST(KafkaErrors, SayWhyAndWhatToDo) {
  for (const auto code : {RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN,
                          RD_KAFKA_RESP_ERR__RESOLVE, RD_KAFKA_RESP_ERR__TIMED_OUT}) {
    EXPECT_EQ(StatusOf(code, "x").cause, Cause::kAway) << rd_kafka_err2name(code);
    EXPECT_STREQ(StatusOf(code, "x").advice,
                 "start it or set --kafka-brokers / FANLINE_KAFKA_BROKERS");
  }
  const Status login = StatusOf(RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED, "x");
  EXPECT_EQ(login.cause, Cause::kTurnedAway);
  EXPECT_STREQ(login.advice, "set --kafka-user and --kafka-password-file (or --kafka-password)");
  const Status tls = StatusOf(RD_KAFKA_RESP_ERR__SSL, "x");
  EXPECT_TRUE(tls.later());
  EXPECT_EQ(tls.cause, Cause::kTurnedAway);
  EXPECT_STREQ(tls.advice, "set ssl.ca.location in --kafka-properties / FANLINE_KAFKA_PROPERTIES");
  for (const auto code :
       {RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART}) {
    EXPECT_EQ(StatusOf(code, "x").cause, Cause::kSetting);
    EXPECT_STREQ(StatusOf(code, "x").advice, "create it with feedctl topics create");
  }
  EXPECT_EQ(StatusOf(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, "x").cause, Cause::kOther);
  EXPECT_EQ(StatusOf(RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, "x").cause, Cause::kOther);
}

}  // namespace
}  // namespace fanline::kafka
