// feedctl publish: sends a file of events of any kind.
#include <cstdio>

#include "backends/kafka/producer.h"
#include "fanline/base/mono_now.h"
#include "fanline/wire/event_codec.h"
#include "feedctl/commands/command.h"
#include "feedctl/events/acknowledgements.h"
#include "feedctl/events/pace.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"
#include "feedctl/support/line_reader.h"
#include "feedctl/support/progress.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

constexpr uint64_t kMostUnderWay = 50'000;       // far below the producer's own limit
constexpr std::chrono::milliseconds kLinger{5};  // forms batches when there are many

bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

class Publish : public Command {
 public:
  Publish(daemon::OptionTable& table, Settings& settings) : Command(settings, table) {
    table.Add("from", &from_, "a file with an event per line in JSON, of any kind; - is stdin")
        .Unit("FILE")
        .Required();
    table.Add("rate", &rate_, "events per second; 0 is as fast as can be").Range(0, 10'000'000);
    options::AddFeedTopic(table, settings.topics);
    options::AddOptions(table, settings.kafka);
  }

  int Run(Interrupt& interrupt) override {
    LineReader lines(from_, [&interrupt] { return interrupt.requested(); });
    // A producer would create a missing topic, with the cluster's defaults.
    RequireTopic(settings_, settings_.topics.feed);
    kafka::Producer producer({.client = options::ToOptions(settings_.kafka, kClientId),
                              .feed_topic = settings_.topics.feed,
                              .linger = kLinger},
                             {});
    const Interrupt::Graceful graceful(interrupt);
    const Time begin = SystemNow().mono;
    SendAll(lines, producer, interrupt);
    acks_.AwaitAtMost(0);
    const double seconds = std::chrono::duration<double>(SystemNow().mono - begin).count();
    RequireFinished(acks_.failure(), settings_,
                    Counted(acks_.acknowledged(), "event") +
                        " were acknowledged. Publish the same again: repeated events change "
                        "nothing");
    Report(acks_.acknowledged(), seconds, interrupt.requested());
    return 0;
  }

 private:
  void SendAll(LineReader& lines, kafka::Producer& producer, const Interrupt& interrupt) {
    Progress progress("publishing", "events acknowledged", 0);
    const Pace pace(rate_, SystemNow().mono);
    std::string_view line;
    for (uint64_t sent = 0; lines.Next(&line) && !interrupt.requested();) {
      if (IsBlank(line)) continue;
      const FeedEvent event = Decode(lines, line);
      const bool goes_on = interrupt.Sleep(pace.WaitBefore(sent, SystemNow().mono));
      if (!goes_on || !acks_.failure().done()) return;
      acks_.AwaitAtMost(kMostUnderWay);
      acks_.Expect();
      producer.Submit(AppendEvent{0, event, std::string(line)}, acks_);
      if (++sent % 256 == 0 || rate_ > 0) progress.At(acks_.acknowledged());
    }
  }

  // Refuses a bad line only after all events before it are acknowledged, so that it can tell how
  // many.
  FeedEvent Decode(const LineReader& lines, std::string_view line) {
    const Decoded<FeedEvent> decoded = DecodeEvent(line, kJsonContentType);
    if (const auto* event = std::get_if<FeedEvent>(&decoded)) return *event;
    acks_.AwaitAtMost(0);
    throw lines.Bad(std::get<Rejection>(decoded).reason + "; " +
                    Counted(acks_.acknowledged(), "event") + " before it were acknowledged");
  }

  void Report(uint64_t events, double seconds, bool interrupted) const {
    if (json_) {
      PutJson({{"events", events}, {"seconds", seconds}, {"interrupted", interrupted}});
      return;
    }
    std::printf("%s%s acknowledged in %s\n", interrupted ? "interrupted: " : "",
                Counted(events, "event").c_str(), Seconds(seconds).c_str());
  }

  std::string from_;
  double rate_ = 0;
  Acknowledgements acks_;
};

}  // namespace

extern const Row kPublish = RowOf<Publish>(
    "publish", "sends a file of events: posts and reposts published, deleted, hidden, edited");

}  // namespace fanline::feedctl
