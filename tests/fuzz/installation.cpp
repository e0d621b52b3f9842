// The row of table installation, a field a line.
#include "backends/mysql/installation/installation_row.h"
#include "fanline/base/check.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

using namespace fanline;
using namespace fanline::mysql;

FUZZ_TARGET(installation) {
  InstallationRow row = RowOf({}, 0);
  for (auto& field : row) field.value = fuzz::TakeLine(bytes);
  std::string why;
  const auto found = InstallationOf(row, &why);
  FANLINE_CHECK(found.has_value() == why.empty(), "a refusal has a reason");
  if (!found) return;
  FANLINE_CHECK(RangeLayout::Divides(found->partitions), "ranges are equal");
  FANLINE_CHECK(found->window.fits() && found->following_limit > 0, "what it says can be kept");
  const InstallationRow again = RowOf(*found, 0);
  const auto reread = InstallationOf(again, &why);
  FANLINE_CHECK(reread && DifferenceOf(RowOf(*reread, 0), again).empty(),
                "the same when read again");
}
