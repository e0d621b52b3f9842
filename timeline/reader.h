// Serves a reader a page of the home timeline, and makes that timeline live. Carries out the steps
// of Rebuild and Pull on blocking ports. Each thread has its own Reader.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fanline/ports/reader_ports.h"
#include "timeline/rebuild.h"

namespace fanline::timeline {

class Reader {
 public:
  Reader(ReaderTruth& truth, ReaderTimelines& timelines, WindowLimits window,
         std::function<std::string()> next_token);

  // Makes the reader's timeline live unless it is; *result says how it ended.
  Status Activate(UserId reader, RebuildResult* result);

  struct Page {
    std::vector<Item> items;       // newest first
    std::optional<Position> next;  // pass as `after` for the next page; none: that was all
    bool live = false;             // the timeline was live, also when it held none of them
    size_t cached = 0;             // how many of the items came from the live timeline
  };
  // Items behind `after`. A live timeline answers down to its floor, the truth below it. When the
  // timeline is not live, the truth answers all, and the first page also makes the timeline live.
  Status Read(UserId reader, const std::optional<Position>& after, uint32_t limit, Page* page);

 private:
  Status PullPage(UserId reader, const std::optional<Position>& after, uint32_t limit,
                  std::vector<Item>* items, bool* more);

  ReaderTruth* truth_;
  ReaderTimelines* timelines_;
  WindowLimits window_;
  std::function<std::string()> next_token_;
};

}  // namespace fanline::timeline
