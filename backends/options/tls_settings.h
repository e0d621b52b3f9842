// The options that make our clients speak TLS: --X-tls-ca, --X-tls-cert, --X-tls-key. Kafka's
// clients get ssl.* in --kafka-properties instead.
#pragma once

#include <string>

#include "daemon/options/options.h"
#include "fanline/base/tls_files.h"

namespace fanline::options {

// `service`: its name in the options, such as "mysql". Refuses our certificate without its key or
// without an authority, and a file that cannot be read now or does not hold what it should. `tls`
// outlives the table.
void AddTls(daemon::OptionTable& table, const std::string& service, TlsFiles& tls);

}  // namespace fanline::options
