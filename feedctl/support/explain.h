// Turns what an adapter reports into what an operator needs: which service, where, and what to do.
#pragma once

#include "fanline/base/outcome.h"
#include "feedctl/support/failure.h"
#include "feedctl/support/settings.h"

namespace fanline::feedctl {

// The folder of the pages that feedctl names: that of the installed package feedctl, or else that
// of the sources, "docs".
[[nodiscard]] std::string DocsFolder();

struct Explanation {
  int exit_code = 0;
  std::string what = {};    // one line
  std::string advice = {};  // what to do, if `what` does not say it; one line
  bool silent = false;      // the service will not answer anything else either
};

// `status` is not done. Later: names the service, its address and the option to set; exit code 69,
// or 78 when only the operator can fix it (a wrong password, a missing table or topic). Never:
// `never_code`.
[[nodiscard]] Explanation ExplanationOf(const Status& status, const Settings& settings,
                                        int never_code = kExitConfig);

// The same as a Failure: "what; advice".
[[nodiscard]] Failure Explain(const Status& status, const Settings& settings,
                              int never_code = kExitConfig);

// Throws Explain(status) unless it is done.
void Require(const Status& status, const Settings& settings, int never_code = kExitConfig);

// The same of work that is to be done again: "what; advice; again", and 75 for a service that is
// away. Never: 65.
void RequireFinished(const Status& status, const Settings& settings, const std::string& again);

}  // namespace fanline::feedctl
