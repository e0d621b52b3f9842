// The password a client shows to brokers, and how it changes under the client.
#include "backends/kafka/security/credentials.h"

#include <gmock/gmock.h>

#include "backends/kafka/client.h"
#include "tests/support/temporary_file.h"

namespace fanline::kafka {
namespace {

using ::testing::HasSubstr;

// World: a client of a broker that is not there, and the file of its password.
class CredentialsTest : public ::testing::Test {
 protected:
  CredentialsTest() {
    options_.brokers = "127.0.0.1:1";
    options_.user = "fanline";
    options_.password.file = file_.path();
    options_.properties = {{"security.protocol", "SASL_PLAINTEXT"},
                           {"sasl.mechanism", "SCRAM-SHA-512"}};
  }

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

  const TemporaryFile file_{"s3cret-1\n"};
  ClientOptions options_;
};

TEST_F(CredentialsTest, AClientHoldsWhatTheFileSaysAlsoWhenItIsNew) {
  const auto client = Start();
  EXPECT_EQ(Held(*client, "sasl.username"), "fanline");
  EXPECT_EQ(Held(*client, "sasl.password"), "s3cret-1");
  file_.Write("s3cret-2\n");
  EXPECT_EQ(client->context().credentials->Refresh(client->get()), "");
  EXPECT_EQ(Held(*client, "sasl.password"), "s3cret-2");
}

TEST_F(CredentialsTest, AFileThatCannotBeReadLeavesTheClientWhatItHad) {
  const auto client = Start();
  file_.Remove();
  EXPECT_THAT(client->context().credentials->Refresh(client->get()), HasSubstr(file_.path()));
  EXPECT_EQ(Held(*client, "sasl.password"), "s3cret-1");
}

TEST_F(CredentialsTest, AClientThatCannotReadItsPasswordStartsAllTheSame) {
  file_.Remove();
  const auto client = Start();
  file_.Write("s3cret-3\n");
  EXPECT_EQ(client->context().credentials->Refresh(client->get()), "");
  EXPECT_EQ(Held(*client, "sasl.password"), "s3cret-3");
}

}  // namespace
}  // namespace fanline::kafka
