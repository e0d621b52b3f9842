// The password a client shows to brokers, and how it changes under the client.
#include "backends/kafka/security/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "backends/kafka/client.h"

namespace fanline::kafka {
namespace {

using ::testing::HasSubstr;

// World: a client of a broker that is not there, and the file of its password.
class CredentialsTest : public ::testing::Test {
 protected:
  CredentialsTest() : path_(::testing::TempDir() + "kafka-XXXXXX") {
    close(mkstemp(path_.data()));
    Write("s3cret-1");
    options_.brokers = "127.0.0.1:1";
    options_.user = "fanline";
    options_.password.file = path_;
    options_.properties = {{"security.protocol", "SASL_PLAINTEXT"},
                           {"sasl.mechanism", "SCRAM-SHA-512"}};
  }
  ~CredentialsTest() override { unlink(path_.c_str()); }

  void Write(const std::string& password) { std::ofstream(path_) << password << "\n"; }
  std::unique_ptr<Client> Start() {
    return std::make_unique<Client>(RD_KAFKA_PRODUCER, ClientConfig(options_, {}, {}), LogSink(),
                                    nullptr);
  }
  static std::string Held(const Client& client, const char* name) {
    char value[64] = "";
    size_t size = sizeof value;
    EXPECT_EQ(rd_kafka_conf_get(rd_kafka_conf(client.get()), name, value, &size), RD_KAFKA_CONF_OK);
    return value;
  }

  std::string path_;
  ClientOptions options_;
};

TEST_F(CredentialsTest, AClientHoldsWhatTheFileSaysAlsoWhenItIsNew) {
  const auto client = Start();
  EXPECT_EQ(Held(*client, "sasl.username"), "fanline");
  EXPECT_EQ(Held(*client, "sasl.password"), "s3cret-1");
  Write("s3cret-2");
  EXPECT_EQ(client->context().credentials->Refresh(client->get()), "");
  EXPECT_EQ(Held(*client, "sasl.password"), "s3cret-2");
}

TEST_F(CredentialsTest, AFileThatCannotBeReadLeavesTheClientWhatItHad) {
  const auto client = Start();
  unlink(path_.c_str());
  EXPECT_THAT(client->context().credentials->Refresh(client->get()), HasSubstr(path_));
  EXPECT_EQ(Held(*client, "sasl.password"), "s3cret-1");
}

TEST_F(CredentialsTest, AClientThatCannotReadItsPasswordStartsAllTheSame) {
  unlink(path_.c_str());
  const auto client = Start();
  Write("s3cret-3");
  EXPECT_EQ(client->context().credentials->Refresh(client->get()), "");
  EXPECT_EQ(Held(*client, "sasl.password"), "s3cret-3");
}

}  // namespace
}  // namespace fanline::kafka
