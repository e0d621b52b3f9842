// How the adapters tell what happened, without knowing the logger: main.cpp hands one in. Called
// from any thread. Messages carry no credentials.
#pragma once

#include <functional>
#include <string>

namespace fanline {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

using LogSink = std::function<void(LogLevel, const std::string& message)>;

}  // namespace fanline
