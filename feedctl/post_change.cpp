// feedctl delete, hide, unhide, edit: what happens to a post after it was published.
#include "feedctl/commands.h"
#include "feedctl/post_event.h"

namespace fanline::feedctl {
namespace {

class PostChange : public Command {
 public:
  PostChange(EventKind kind, daemon::OptionTable& table, Settings& settings)
      : kind_(kind), settings_(settings) {
    table.Add("author", &author_, "who wrote the post").Unit("ID").Required();
    table.Add("post", &post_, "the post").Unit("ID").Required();
    if (TraitsOf(kind).number == EventNumber::kVersion) {
      table
          .Add("version", &version_,
               "grows with each such change of the post; of hide and unhide the highest wins")
          .Unit("N")
          .Required();
    }
    table.Add("json", &json_, "print the event as it was sent");
    options::AddFeedTopic(table, settings.topics);
    options::AddOptions(table, settings.kafka);
  }

  int Run(Interrupt&) override {
    FeedEvent event;
    event.kind = kind_;
    event.post = PostId{post_};
    event.author = UserId{author_};
    event.version = version_;
    SendOne(event, settings_, json_);
    return 0;
  }

 private:
  const EventKind kind_;
  Settings& settings_;
  uint64_t author_ = 0;
  uint64_t post_ = 0;
  uint64_t version_ = 0;
  bool json_ = false;
};

template <EventKind kKind>
std::unique_ptr<Command> Make(daemon::OptionTable& table, Settings& settings) {
  return std::make_unique<PostChange>(kKind, table, settings);
}

}  // namespace

std::unique_ptr<Command> MakeDelete(daemon::OptionTable& table, Settings& settings) {
  return Make<EventKind::kDeleted>(table, settings);
}
std::unique_ptr<Command> MakeHide(daemon::OptionTable& table, Settings& settings) {
  return Make<EventKind::kHidden>(table, settings);
}
std::unique_ptr<Command> MakeUnhide(daemon::OptionTable& table, Settings& settings) {
  return Make<EventKind::kUnhidden>(table, settings);
}
std::unique_ptr<Command> MakeEdit(daemon::OptionTable& table, Settings& settings) {
  return Make<EventKind::kEdited>(table, settings);
}

}  // namespace fanline::feedctl
