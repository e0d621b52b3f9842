// Answers at once which mode it is, and keeps what the shards' bells are asked.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "fanline/ports/log_bell.h"
#include "fanline/ports/operator_modes.h"
#include "fanline/ports/port.h"

namespace fanline::mirror {

struct Bells : ServesAll<Bells, ReadMirrorMode, HearLog> {
  void Serve(const ReadMirrorMode& request, ReplyTo<MirrorModeRead> to) {
    ++looks;
    to({request.id, status, mode});
  }
  void Serve(const HearLog& request, ReplyTo<LogHeard> to) { asked.push_back({request, to}); }
  // Answers the oldest request.
  void Ring(std::vector<uint64_t> ids, Status rung = Status::Done(), bool begun = false) {
    const Submitted<HearLog> first = asked.front();
    asked.erase(asked.begin());
    first.to({first.request.id, std::move(rung), std::move(ids), begun});
  }

  MirrorMode mode = MirrorMode::kAsync;
  Status status;
  size_t looks = 0;  // how often the mode was read
  std::vector<Submitted<HearLog>> asked;
};

}  // namespace fanline::mirror
