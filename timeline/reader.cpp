#include "timeline/reader.h"

namespace fanline::timeline {
std::string_view NameOf(EmptyReason reason) {
  switch (reason) {
    case EmptyReason::kNoSuchUser:
      return "no_such_user";
    case EmptyReason::kFollowsNobody:
      return "follows_nobody";
    case EmptyReason::kNoPosts:
      return "no_posts";
  }
  return "";
}

Status Reader::Activate(UserId reader, RebuildResult* result, const Admit& admit) {
  Rebuild run(reader, rules_, truth_->map(), admit);
  truth_->Finish(run, run.Begin(), &timelines_);
  *result = run.result();
  return run.status();
}

Status Reader::Home(UserId reader, const PageQuery& query, Page* page) {
  PageRun run(reader, query, OwnOf(reader, rules_.own_posts), truth_->map(),
              TruthReads::Answers::kWhole);
  run.OnLive(truth_->Ask(timelines_, run.Begin()));  // if it fails, the page is pulled
  truth_->Finish(run, run.GoOn(), &timelines_);
  if (run.status().done()) *page = run.Take();
  return run.status();
}

EmptyReason WhyNoTimeline(const UserFacts& of_reader) {
  if (!of_reader.known) return EmptyReason::kNoSuchUser;
  return of_reader.follows ? EmptyReason::kNoPosts : EmptyReason::kFollowsNobody;
}

EmptyReason WhyNoPosts(const UserFacts& of_author) {
  return of_author.known ? EmptyReason::kNoPosts : EmptyReason::kNoSuchUser;
}

}  // namespace fanline::timeline
