// feedctl delete, hide, unhide, edit: changes a published post.
#include "feedctl/commands/command.h"
#include "feedctl/events/post_event.h"

namespace fanline::feedctl {
namespace {

class PostChange : public Command {
 public:
  PostChange(EventKind kind, daemon::OptionTable& table, Settings& settings)
      : Command(settings), kind_(kind) {
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
  uint64_t author_ = 0;
  uint64_t post_ = 0;
  uint64_t version_ = 0;
  bool json_ = false;
};

}  // namespace

extern const Row kDelete =
    RowOf<PostChange, EventKind::kDeleted>("delete", "says that a post was deleted, for ever");
extern const Row kHide =
    RowOf<PostChange, EventKind::kHidden>("hide", "says that a post was hidden");
extern const Row kUnhide =
    RowOf<PostChange, EventKind::kUnhidden>("unhide", "says that a hidden post is shown again");
extern const Row kEdit =
    RowOf<PostChange, EventKind::kEdited>("edit", "says that a post was edited");

}  // namespace fanline::feedctl
