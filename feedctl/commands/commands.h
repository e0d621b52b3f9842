// The table of commands. A new command is a file in this folder and a name in commands.cpp.
#pragma once

#include <span>

#include "feedctl/commands/command.h"

namespace fanline::feedctl {

// In the order of --help; a group comes before its commands.
std::span<const Row* const> Commands();

}  // namespace fanline::feedctl
