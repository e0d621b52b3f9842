// The PEM files with which a client of ours speaks TLS to a service. They are read for each
// connection, since certificates may be renewed while a program runs.
#pragma once

#include <string>

namespace fanline {

struct TlsFiles {
  std::string authority;    // who signed the service's certificate; empty: no TLS
  std::string certificate;  // our own, for a service that asks; with its key or not at all
  std::string key;          // without a passphrase

  bool on() const { return !authority.empty(); }
};

}  // namespace fanline
