// The table of commands. A new one is a file of this folder and its name in commands.cpp.
#pragma once

#include <span>

#include "feedctl/commands/command.h"

namespace fanline::feedctl {

// In the order in which --help lists them; a group before its commands.
std::span<const Row* const> Commands();

}  // namespace fanline::feedctl
