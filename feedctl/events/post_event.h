// One event given on the command line: shared by publish, delete, hide, unhide and edit.
#pragma once

#include "daemon/options/options.h"
#include "fanline/model/event.h"
#include "feedctl/support/settings.h"

namespace fanline::feedctl {

// Sends it, waits for the acknowledgement and prints what was sent: a line, or the event as JSON.
// Failure 64 when dispatchers would not accept it, 69 when it was not acknowledged.
void SendOne(const FeedEvent& event, const Settings& settings, bool json);

// "post.hidden post 77 of author 5, version 2"
std::string Describe(const FeedEvent& event);

}  // namespace fanline::feedctl
