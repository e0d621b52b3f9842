// One shard's copy of the installation row, as text by field: what is compared, written and shown.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "backends/mysql/installation.h"

namespace fanline::mysql {

struct InstallationField {
  const char* name;
  std::string value;
};
using InstallationRow = std::array<InstallationField, 12>;  // in the order of the table

InstallationRow RowOf(const Installation& installation, Shard shard);

// The words for a schema_version that is not kSchemaVersion.
std::string SchemaDiffers(const std::string& found);

// Nothing, and *why set, when the row is of another schema or not one this program can work with.
std::optional<Installation> InstallationOf(const InstallationRow& row, std::string* why);

// "" when they are equal. `found` is shard's own, `expected` is what it should be.
std::string DifferenceOf(Shard shard, const InstallationRow& found,
                         const InstallationRow& expected);

}  // namespace fanline::mysql
