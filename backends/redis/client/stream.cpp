#include "backends/redis/client/stream.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "backends/redis/client/errors.h"

namespace fanline::redis {
namespace {

using Context = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

// The oldest reason in OpenSSL's queue is the one that matters.
std::string Reason() {
  const unsigned long error = ERR_get_error();
  const char* text = error == 0 ? nullptr : ERR_reason_error_string(error);
  ERR_clear_error();
  return text == nullptr ? "TLS failed" : text;
}

bool UseFiles(SSL_CTX* context, const TlsFiles& files, std::string* wrong) {
  if (SSL_CTX_load_verify_locations(context, files.authority.c_str(), nullptr) != 1) {
    return *wrong = files.authority + ": " + Reason(), false;
  }
  if (files.certificate.empty()) return true;
  if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1) {
    return *wrong = files.certificate + ": " + Reason(), false;
  }
  if (SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return *wrong = files.key + ": " + Reason(), false;
  }
  return true;
}

bool IsAddress(const std::string& host) {
  unsigned char address[sizeof(in6_addr)];
  return inet_pton(AF_INET, host.c_str(), address) == 1 ||
         inet_pton(AF_INET6, host.c_str(), address) == 1;
}

// Of these the certificate must name one. A Cluster or Sentinels may call a node by its address,
// while its certificate is for the name that it announces, which then comes second, or for the one
// that the service is known by, which is a seed's.
std::vector<std::string> IdentitiesOf(const Options& options, const std::string& announced) {
  std::vector<std::string> all{options.address.host};
  if (!IsAddress(all.front())) return all;
  if (!announced.empty()) all.push_back(announced);
  for (const Endpoint& seed : options.seeds) {
    if (!IsAddress(seed.host)) all.push_back(seed.host);
  }
  return all;
}

bool IsFor(X509* certificate, const std::string& host) {
  if (IsAddress(host)) return X509_check_ip_asc(certificate, host.c_str(), 0) == 1;
  return X509_check_host(certificate, host.data(), host.size(), 0, nullptr) == 1;
}

int Bounded(size_t size) { return static_cast<int>(std::min<size_t>(size, INT_MAX)); }

}  // namespace

Stream::Stream(const Options& options, int fd) : fd_(fd), tls_(nullptr, SSL_free), wants_(POLLOUT) {
  if (options.tls.on() && !BeginTls(options) && failure_.empty()) Refuse(Reason());
}

bool Stream::BeginTls(const Options& options) {
  ERR_clear_error();
  const Context context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  if (!context) return false;
  std::string wrong;
  if (!UseFiles(context.get(), options.tls, &wrong)) return Refuse(wrong), false;
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  // The buffer may have moved when a write is repeated.
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  tls_.reset(SSL_new(context.get()));
  if (!tls_ || SSL_set_fd(tls_.get(), fd_) != 1) return false;
  std::string name = options.announced->Of(options.address);
  if (IsAddress(name)) name.clear();
  identities_ = IdentitiesOf(options, name);
  if (!IsAddress(identities_.front())) name = identities_.front();
  return name.empty() || SSL_set_tlsext_host_name(tls_.get(), name.c_str()) == 1;
}

void Stream::Refuse(std::string why) { failure_ = std::string(kTlsRefused) + std::move(why); }

Stream::Greeting Stream::Greet() {
  if (!failure_.empty()) return Greeting::kFailed;
  if (!tls_) return Greeting::kDone;
  ERR_clear_error();
  const ssize_t done = Judged(SSL_connect(tls_.get()));
  if (done <= 0) return done < 0 && errno == EAGAIN ? Greeting::kAgain : Greeting::kFailed;
  X509* const certificate = SSL_get0_peer_certificate(tls_.get());
  for (const std::string& host : identities_) {
    if (IsFor(certificate, host)) return Greeting::kDone;
  }
  Refuse(X509_verify_cert_error_string(IsAddress(identities_.front())
                                           ? X509_V_ERR_IP_ADDRESS_MISMATCH
                                           : X509_V_ERR_HOSTNAME_MISMATCH));
  return Greeting::kFailed;
}

ssize_t Stream::Send(const char* bytes, size_t size) {
  if (!tls_) return send(fd_, bytes, size, MSG_NOSIGNAL);
  ERR_clear_error();
  return Judged(SSL_write(tls_.get(), bytes, Bounded(size)));
}

ssize_t Stream::Receive(char* bytes, size_t size) {
  if (!tls_) return recv(fd_, bytes, size, 0);
  ERR_clear_error();
  return Judged(SSL_read(tls_.get(), bytes, Bounded(size)));
}

// Turns a result of OpenSSL into that of a system call.
ssize_t Stream::Judged(int result) {
  if (result > 0) return result;
  const int failed = errno;
  switch (SSL_get_error(tls_.get(), result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      wants_ = SSL_want_write(tls_.get()) ? POLLOUT : POLLIN;
      errno = EAGAIN;
      return -1;
    case SSL_ERROR_ZERO_RETURN:
      return 0;
    case SSL_ERROR_SYSCALL:
      errno = failed == 0 ? ECONNRESET : failed;
      return -1;
    default:
      break;
  }
  const long verified = SSL_get_verify_result(tls_.get());
  Refuse(verified == X509_V_OK ? Reason() : X509_verify_cert_error_string(verified));
  errno = EPROTO;
  return -1;
}

std::string Stream::failure() const { return failure_.empty() ? std::strerror(errno) : failure_; }

}  // namespace fanline::redis
