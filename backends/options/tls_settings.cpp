#include "backends/options/tls_settings.h"

#include <tuple>

#include "fanline/base/secret.h"

namespace fanline::options {
namespace {

std::string Problem(const std::string& flag, const TlsFiles& tls) {
  if (!tls.on() && !(tls.certificate.empty() && tls.key.empty())) {
    return flag + "-cert: TLS is off; set " + flag + "-ca, too";
  }
  if (tls.certificate.empty() != tls.key.empty()) {
    return flag + "-cert: needs " + flag + "-key, and the other way round";
  }
  // The end of the first line of each kind of file. Its beginning varies ("-----BEGIN TRUSTED ").
  const std::tuple<const char*, const std::string&, const char*> files[] = {
      {"-ca", tls.authority, "CERTIFICATE-----"},
      {"-cert", tls.certificate, "CERTIFICATE-----"},
      {"-key", tls.key, "PRIVATE KEY-----"}};
  for (const auto& [name, path, head] : files) {
    if (path.empty()) continue;
    std::string content;
    const std::string wrong = Secret{{}, path}.Read(&content);
    if (!wrong.empty()) return flag + name + ": " + wrong;
    if (content.find(head) == std::string::npos) {
      return flag + name + ": " + path + ": is not PEM: it has no line that ends with " + head;
    }
  }
  return {};
}

}  // namespace

void AddTls(daemon::OptionTable& table, const std::string& service, TlsFiles& tls) {
  const std::string name = service + "-tls";
  table
      .Add(name + "-ca", &tls.authority,
           "who signed the server's certificate (PEM); TLS is spoken when it is set, and nothing "
           "else")
      .Unit("PATH");
  table.Add(name + "-cert", &tls.certificate, "our own certificate, for a server that asks (PEM)")
      .Unit("PATH");
  table.Add(name + "-key", &tls.key, "its key (PEM, without a passphrase)").Unit("PATH");
  table.Check([flag = "--" + name, &tls] { return Problem(flag, tls); });
}

}  // namespace fanline::options
