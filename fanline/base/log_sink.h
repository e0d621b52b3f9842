// Lets adapters log without knowing the logger: main.cpp hands in a sink. Any thread may call it.
// Messages carry no credentials.
#pragma once

#include <functional>
#include <string>

namespace fanline {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

using LogSink = std::function<void(LogLevel, const std::string& message)>;

}  // namespace fanline
