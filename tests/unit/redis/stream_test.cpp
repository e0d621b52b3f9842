// TLS to a node that lives in this process: who is spoken to, and who is not.
#include "backends/redis/client/stream.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "tests/adapters/redis/tls_node.h"

namespace fanline::redis {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

// World: an authority, another one that signed nothing here, and a node at 127.0.0.1 that echoes.
class StreamTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::signal(SIGPIPE, SIG_IGN);  // as in our programs
    folder_ = fs::temp_directory_path() / ("fanline-stream-" + std::to_string(getpid()));
    fs::create_directories(folder_);
    MakeCertificate("node", "IP:127.0.0.1,DNS:node.example");
    MakeCertificate("stranger", "IP:127.0.0.1");
  }
  static void TearDownTestSuite() { fs::remove_all(folder_); }

  // One that signed itself is its own authority.
  static void MakeCertificate(const std::string& name, const std::string& names) {
    const std::string path = folder_ / name;
    const std::string command =
        "/usr/bin/openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days "
        "2 "
        "-subj /CN=" +
        name + " -addext subjectAltName=" + names + " -keyout " + path + ".key -out " + path +
        ".pem 2>/dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  static std::string Pem(const std::string& name) { return folder_ / (name + ".pem"); }

  void SetUp() override { ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), 0); }
  void TearDown() override {
    close(ends_[0]);
    node_.reset();
    close(ends_[1]);
  }

  // Another time, between two new ends.
  void StartNode() {
    if (node_) {
      TearDown();
      SetUp();
    }
    node_.emplace(ends_[1], Pem("node"), folder_ / "node.key");
  }

  static Options At(const std::string& host, const std::string& authority) {
    return {.address = {host, 6379}, .tls = {.authority = authority}};
  }
  std::string Refusal(const Options& options) {
    StartNode();
    Stream stream(options, ends_[0]);
    EXPECT_EQ(stream.Greet(), Stream::Greeting::kFailed);
    return stream.failure();
  }

  static inline fs::path folder_;
  int ends_[2] = {-1, -1};
  std::optional<TlsNode> node_;
};

TEST_F(StreamTest, BytesGoBothWaysWhenTheNodeProvesItsAddressOrItsName) {
  for (const char* host : {"127.0.0.1", "node.example"}) {
    SCOPED_TRACE(host);
    StartNode();
    Stream stream(At(host, Pem("node")), ends_[0]);
    ASSERT_EQ(stream.Greet(), Stream::Greeting::kDone) << stream.failure();
    EXPECT_EQ(node_->asked_for(), host == std::string("node.example") ? host : "");
    ASSERT_EQ(stream.Send("PING\r\n", 6), 6);
    char bytes[16];
    ASSERT_EQ(stream.Receive(bytes, sizeof bytes), 6);
    EXPECT_EQ(std::string(bytes, 6), "PING\r\n");
  }
}

TEST_F(StreamTest, ANodeThatIsNotWhoItShouldBeIsRefused) {
  for (const auto& [host, authority, why] :
       {std::tuple{"127.0.0.1", "stranger", "TLS: self-signed certificate"},
        {"127.0.0.2", "node", "TLS: IP address mismatch"},
        {"elsewhere.example", "node", "TLS: hostname mismatch"}}) {
    EXPECT_THAT(Refusal(At(host, Pem(authority))), HasSubstr(why));
  }
}

// As of a service whose nodes call each other by address, and have certificates for its name.
TEST_F(StreamTest, ANodeKnownByItsAddressMayProveTheNameOfASeed) {
  Options options = At("127.0.0.2", Pem("node"));
  options.seeds = {{"other.example", 6379}};
  EXPECT_THAT(Refusal(options), HasSubstr("TLS: IP address mismatch"));
  options.seeds.push_back({"node.example", 6379});
  StartNode();
  Stream stream(options, ends_[0]);
  EXPECT_EQ(stream.Greet(), Stream::Greeting::kDone) << stream.failure();
  options.address.host = "elsewhere.example";
  EXPECT_THAT(Refusal(options), HasSubstr("TLS: hostname mismatch"));
}

// As of a Cluster to which a node was added that --redis does not name.
TEST_F(StreamTest, ANodeKnownByItsAddressMayProveTheNameThatItAnnounces) {
  Options options = At("127.0.0.2", Pem("node"));
  options.announced->Learn({"127.0.0.3", 6379}, "node.example");
  EXPECT_THAT(Refusal(options), HasSubstr("TLS: IP address mismatch")) << "it is another's";
  options.announced->Learn(options.address, "127.0.0.1");
  EXPECT_THAT(Refusal(options), HasSubstr("TLS: IP address mismatch")) << "it is no name";
  options.announced->Learn(options.address, "node.example");
  StartNode();
  Stream stream(options, ends_[0]);
  EXPECT_EQ(stream.Greet(), Stream::Greeting::kDone) << stream.failure();
  EXPECT_EQ(node_->asked_for(), "node.example");
  options.address.host = "elsewhere.example";
  options.announced->Learn(options.address, "node.example");
  EXPECT_THAT(Refusal(options), HasSubstr("TLS: hostname mismatch")) << "it has a name";
}

TEST_F(StreamTest, ANodeThatSpeaksPlainlyIsRefused) {
  ASSERT_EQ(write(ends_[1], "-ERR unknown command\r\n", 22), 22);
  Stream stream(At("127.0.0.1", Pem("node")), ends_[0]);
  EXPECT_EQ(stream.Greet(), Stream::Greeting::kFailed);
  EXPECT_THAT(stream.failure(), HasSubstr("TLS: wrong version number"));
}

TEST_F(StreamTest, AnAuthorityThatCannotBeReadIsNamed) {
  Stream stream(At("127.0.0.1", "/nowhere/ca.pem"), ends_[0]);
  EXPECT_EQ(stream.Greet(), Stream::Greeting::kFailed);
  EXPECT_THAT(stream.failure(), HasSubstr("/nowhere/ca.pem"));
}

TEST_F(StreamTest, AGreetingWaitsForTheNodeWithoutBlocking) {
  const int flags = fcntl(ends_[0], F_GETFL);
  ASSERT_EQ(fcntl(ends_[0], F_SETFL, flags | O_NONBLOCK), 0);
  Stream stream(At("127.0.0.1", Pem("node")), ends_[0]);
  ASSERT_EQ(stream.Greet(), Stream::Greeting::kAgain);  // nobody answers yet
  EXPECT_EQ(stream.wants(), POLLIN);
  StartNode();
  Stream::Greeting greeting = Stream::Greeting::kAgain;
  for (int turn = 0; turn < 100 && greeting == Stream::Greeting::kAgain; ++turn) {
    pollfd ready{ends_[0], stream.wants(), 0};
    ASSERT_EQ(poll(&ready, 1, 10'000), 1);
    greeting = stream.Greet();
  }
  EXPECT_EQ(greeting, Stream::Greeting::kDone) << stream.failure();
}

TEST_F(StreamTest, WithoutTlsBytesAreSentAsTheyAre) {
  Stream stream(Options(), ends_[0]);
  ASSERT_EQ(stream.Greet(), Stream::Greeting::kDone);
  ASSERT_EQ(stream.Send("PING\r\n", 6), 6);
  char bytes[16];
  ASSERT_EQ(read(ends_[1], bytes, sizeof bytes), 6);
  EXPECT_EQ(std::string(bytes, 6), "PING\r\n");
}

}  // namespace
}  // namespace fanline::redis
