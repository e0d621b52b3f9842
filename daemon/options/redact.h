// Keeps passwords out of everything a program prints.
#pragma once

#include <string>
#include <string_view>

namespace fanline::daemon {

// What is shown in place of a secret.
inline constexpr std::string_view kMasked = "***";

// The text with the user information of every URL in it masked:
// "mysql://app:s3cret@db1/feed" -> "mysql://***@db1/feed". Text without one is unchanged.
// A password may itself contain '@' or ':'; everything up to the last '@' of the URL's
// authority goes. Any thread.
[[nodiscard]] std::string Redact(std::string_view text);

}  // namespace fanline::daemon
