// Where the pages are that feedctl names.
#pragma once

#include <string>

namespace fanline::feedctl {

// As the package feedctl has them, if it is installed, else as the sources do: "docs".
[[nodiscard]] std::string DocsFolder();

}  // namespace fanline::feedctl
