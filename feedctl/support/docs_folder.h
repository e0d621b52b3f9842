// Where the pages that feedctl names are.
#pragma once

#include <string>

namespace fanline::feedctl {

// The folder of the installed package feedctl, or else that of the sources: "docs".
[[nodiscard]] std::string DocsFolder();

}  // namespace fanline::feedctl
