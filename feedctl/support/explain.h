// Turns what an adapter reports into what an operator needs: which service, where, and what to do.
#pragma once

#include "fanline/base/outcome.h"
#include "feedctl/support/failure.h"
#include "feedctl/support/settings.h"

namespace fanline::feedctl {

struct Explanation {
  int exit_code = 0;
  std::string what = {};    // one line
  std::string advice = {};  // what to do, where it can be told apart from that; one line
  bool silent = false;      // whatever else that service is asked gets no answer either
};

// `status` is not done. Later: the service is named with its address, and the option to set; exit
// code 69, or 78 when only the operator can mend it (a wrong password, a missing table or topic).
// Never: `never_code`.
[[nodiscard]] Explanation ExplanationOf(const Status& status, const Settings& settings,
                                        int never_code = kExitConfig);

// The same as the end of a command: "what; advice".
[[nodiscard]] Failure Explain(const Status& status, const Settings& settings,
                              int never_code = kExitConfig);

// Throws Explain unless it is done.
void Require(const Status& status, const Settings& settings, int never_code = kExitConfig);

}  // namespace fanline::feedctl
