// feedctl: the operator's tool. One file per command.
#include "daemon/run/main_guard.h"
#include "feedctl/program.h"

using namespace fanline::feedctl;

int main(int argc, char** argv) {
  return fanline::daemon::GuardedMain("feedctl", [&] {
    Program feedctl;
    // Setting up
    feedctl.Add("init", "creates the tables on every shard and writes down the installation",
                MakeInit);
    feedctl.AddGroup("topics", "creates what Kafka needs");
    feedctl.Add("topics create", "creates the topics and their dead letters", MakeTopicsCreate);
    feedctl.Add("import", "loads a graph of who follows whom", MakeImport);
    // Posts
    feedctl.Add("publish", "says that posts were published, one or a file of events", MakePublish);
    feedctl.Add("delete", "says that a post was deleted, for ever", MakeDelete);
    feedctl.Add("hide", "says that a post was hidden", MakeHide);
    feedctl.Add("unhide", "says that a hidden post is shown again", MakeUnhide);
    feedctl.Add("edit", "says that a post was edited", MakeEdit);
    // Relations
    feedctl.Add("follow", "makes a reader follow an author, or many", MakeFollow);
    feedctl.Add("unfollow", "makes a reader no longer follow an author, or many", MakeUnfollow);
    feedctl.Add("friends", "requests, accepts, refuses, cancels or removes a friendship",
                MakeFriends);
    feedctl.AddGroup("relations", "looks at who follows whom, and says how it is kept right");
    feedctl.Add("relations list", "shows a page of following, followers or friends",
                MakeRelationsList);
    feedctl.Add("relations check", "says how a user stands to up to 500 others",
                MakeRelationsCheck);
    feedctl.Add("relations show", "shows both rows of one relation and what is known about it",
                MakeRelationsShow);
    feedctl.Add("relations mode", "shows or sets how reverse rows are written", MakeRelationsMode);
    feedctl.Add("relations reconciler", "shows or sets whether differing rows are repaired",
                MakeRelationsReconciler);
    feedctl.Add("relations counters", "compares counters of relations with their rows",
                MakeRelationsCounters);
    // Timelines
    feedctl.Add("activate", "makes timelines live", MakeActivate);
    feedctl.Add("timeline", "shows a page of a reader's timeline", MakeTimeline);
    feedctl.Add("audit", "compares every live timeline with the truth", MakeAudit);
    return feedctl.Main(argc, argv);
  });
}
