#include "tests/adapters/redis/tls_node.h"

#include <openssl/ssl.h>
#include <sys/socket.h>

namespace fanline::redis {
namespace {

void Serve(int fd, const std::string& certificate, const std::string& key,
           std::promise<std::string>& asked_for) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  SSL_CTX_use_certificate_file(context, certificate.c_str(), SSL_FILETYPE_PEM);
  SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM);
  SSL* tls = SSL_new(context);
  SSL_set_fd(tls, fd);
  char bytes[4096];
  int got = SSL_accept(tls);
  const char* name = SSL_get_servername(tls, TLSEXT_NAMETYPE_host_name);
  asked_for.set_value(name == nullptr ? "" : name);
  while (got > 0 && (got = SSL_read(tls, bytes, sizeof bytes)) > 0) SSL_write(tls, bytes, got);
  shutdown(fd, SHUT_RDWR);
  SSL_free(tls);
  SSL_CTX_free(context);
}

}  // namespace

TlsNode::TlsNode(int fd, std::string certificate, std::string key)
    : thread_([this, fd, certificate = std::move(certificate), key = std::move(key)] {
        Serve(fd, certificate, key, asked_for_);
      }) {}

TlsNode::~TlsNode() { thread_.join(); }

}  // namespace fanline::redis
