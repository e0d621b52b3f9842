#include "feedctl/support/docs_folder.h"

#include <filesystem>

namespace fanline::feedctl {
namespace {

constexpr const char* kPackagedDocs = "/usr/share/doc/feedctl/docs";  // packaging/CMakeLists.txt

}  // namespace

std::string DocsFolder() {
  std::error_code ignored;
  return std::filesystem::exists(kPackagedDocs, ignored) ? kPackagedDocs : "docs";
}

}  // namespace fanline::feedctl
