#include "backends/kafka/errors.h"

#include <gtest/gtest.h>

namespace fanline::kafka {
namespace {

TEST(KafkaErrors, OnlyWhatIsWrongWithTheRecordItselfIsNever) {
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

TEST(KafkaErrors, NoErrorIsDone) { EXPECT_TRUE(StatusOf(RD_KAFKA_RESP_ERR_NO_ERROR, "x").done()); }

TEST(KafkaErrors, ALostPositionAndACorruptLogAreToldFromABrokerThatIsAway) {
  EXPECT_EQ(MeaningOf(RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET).reading, Reading::kLost);
  EXPECT_EQ(MeaningOf(RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE).reading, Reading::kLost);
  EXPECT_EQ(MeaningOf(RD_KAFKA_RESP_ERR__BAD_MSG).reading, Reading::kCorrupt);
  EXPECT_EQ(MeaningOf(RD_KAFKA_RESP_ERR_INVALID_MSG).reading, Reading::kCorrupt);
  EXPECT_EQ(MeaningOf(RD_KAFKA_RESP_ERR__TRANSPORT).reading, Reading::kGoesOn);
  EXPECT_EQ(MeaningOf(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART).reading, Reading::kGoesOn);
}

}  // namespace
}  // namespace fanline::kafka
