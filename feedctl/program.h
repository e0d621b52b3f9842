// The program around the commands: options, the one command that was asked for, and its end.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "daemon/options/options.h"
#include "feedctl/commands.h"

namespace fanline::feedctl {

class Program {
 public:
  Program();

  // What several commands have in common: their first word.
  void AddGroup(const std::string& name, const std::string& summary);

  // `name` of two words is a command of a group ("topics create").
  void Add(const std::string& name, const std::string& summary, MakeCommand make);

  // Parses, runs, and answers the exit code; says what failed in one line on stderr.
  int Main(int argc, char** argv);

 private:
  daemon::OptionTable& TableOf(const std::string& name, const std::string& summary);

  Settings settings_;
  daemon::OptionTable table_;
  std::map<std::string, daemon::OptionTable*> groups_;  // "topics"
  std::map<std::string, std::unique_ptr<Command>> commands_;
};

}  // namespace fanline::feedctl
