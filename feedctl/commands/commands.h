// The table of commands. A new one is a file of this folder, its name here and a row in
// commands.cpp.
#pragma once

#include <span>

#include "feedctl/commands/command.h"

namespace fanline::feedctl {

extern const Row kInit;
extern const Row kTopicsCreate;
extern const Row kImport;
extern const Row kPublish;
extern const Row kDelete;
extern const Row kHide;
extern const Row kUnhide;
extern const Row kEdit;
extern const Row kFollow;
extern const Row kUnfollow;
extern const Row kFriends;
extern const Row kRelationsList;
extern const Row kRelationsCheck;
extern const Row kRelationsShow;
extern const Row kRelationsMode;
extern const Row kRelationsReconciler;
extern const Row kRelationsCounters;
extern const Row kActivate;
extern const Row kTimeline;
extern const Row kAudit;

// In the order in which --help lists them; a group before its commands.
std::span<const Row* const> Commands();

}  // namespace fanline::feedctl
