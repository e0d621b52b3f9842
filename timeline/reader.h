// What a reader asks for: a page of the home timeline, and that it be live. Carries out the steps
// of Rebuild and Pull on blocking ports, one thread each.
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
  // Items behind `after`. A live timeline answers down to its floor, the truth below it; one that
  // is not live is pulled at once, and made live when this is the first page.
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
