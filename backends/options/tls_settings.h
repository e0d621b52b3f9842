// The options that make a client of ours speak TLS: --X-tls-ca, --X-tls-cert, --X-tls-key. Kafka's
// clients are told by ssl.* in --kafka-properties instead.
#pragma once

#include <string>

#include "daemon/options/options.h"
#include "fanline/base/tls_files.h"

namespace fanline::options {

// `service` as in the options' names: "mysql". Refused: a certificate of ours without its key or
// without an authority, and a file that cannot be read now or has nothing of its kind. `tls`
// outlives the table.
void AddTls(daemon::OptionTable& table, const std::string& service, TlsFiles& tls);

}  // namespace fanline::options
