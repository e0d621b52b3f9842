#include "backends/redis/client/options.h"

#include <algorithm>
#include <cctype>

namespace fanline::redis {

bool IsKeyPrefix(std::string_view text) {
  return text.size() <= kMostOfPrefix && std::all_of(text.begin(), text.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) ||
                  std::string_view("._:-").find(c) != std::string_view::npos;
         });
}

}  // namespace fanline::redis
