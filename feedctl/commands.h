// All commands. Each declares its options into `table`, is in the file of its name, and keeps what
// it needs of `settings`, which outlives it.
#pragma once

#include <memory>

#include "daemon/options/options.h"
#include "feedctl/command.h"

namespace fanline::feedctl {

using MakeCommand = std::unique_ptr<Command> (*)(daemon::OptionTable& table, Settings& settings);

std::unique_ptr<Command> MakeInit(daemon::OptionTable& table, Settings& settings);
std::unique_ptr<Command> MakeTopicsCreate(daemon::OptionTable& table, Settings& settings);
std::unique_ptr<Command> MakeImport(daemon::OptionTable& table, Settings& settings);
std::unique_ptr<Command> MakePublish(daemon::OptionTable& table, Settings& settings);
std::unique_ptr<Command> MakeDelete(daemon::OptionTable& table, Settings& settings);
std::unique_ptr<Command> MakeHide(daemon::OptionTable& table, Settings& settings);
std::unique_ptr<Command> MakeUnhide(daemon::OptionTable& table, Settings& settings);
std::unique_ptr<Command> MakeEdit(daemon::OptionTable& table, Settings& settings);
std::unique_ptr<Command> MakeFollow(daemon::OptionTable& table, Settings& settings);
std::unique_ptr<Command> MakeUnfollow(daemon::OptionTable& table, Settings& settings);
std::unique_ptr<Command> MakeFriends(daemon::OptionTable& table, Settings& settings);
std::unique_ptr<Command> MakeRelationsList(daemon::OptionTable& table, Settings& settings);
std::unique_ptr<Command> MakeRelationsCheck(daemon::OptionTable& table, Settings& settings);
std::unique_ptr<Command> MakeRelationsShow(daemon::OptionTable& table, Settings& settings);
std::unique_ptr<Command> MakeRelationsMode(daemon::OptionTable& table, Settings& settings);
std::unique_ptr<Command> MakeRelationsReconciler(daemon::OptionTable& table, Settings& settings);
std::unique_ptr<Command> MakeRelationsCounters(daemon::OptionTable& table, Settings& settings);
std::unique_ptr<Command> MakeActivate(daemon::OptionTable& table, Settings& settings);
std::unique_ptr<Command> MakeTimeline(daemon::OptionTable& table, Settings& settings);
std::unique_ptr<Command> MakeAudit(daemon::OptionTable& table, Settings& settings);

}  // namespace fanline::feedctl
