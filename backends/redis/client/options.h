// How to reach the Redis that holds the timelines (one node or a Cluster), and the limits of calls.
#pragma once

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/redis/client/announced_names.h"
#include "fanline/base/backoff.h"
#include "fanline/base/endpoint.h"
#include "fanline/base/secret.h"
#include "fanline/base/tls_files.h"
#include "fanline/ports/live_timelines.h"
#include "fanline/ports/reader_ports.h"

namespace fanline::redis {

class SilentNodes;

struct Options {
  // One node, some nodes of a Cluster (they tell the others), or the Sentinels that know where
  // `sentinel_master` is.
  std::vector<Endpoint> seeds{{"127.0.0.1", 6379}};
  std::string sentinel_master;    // its name; empty: the seeds are not Sentinels
  std::string sentinel_username;  // for Sentinels only, like the password
  Secret sentinel_password;
  Endpoint address;      // the node that a connection goes to; see At
  std::string username;  // empty: the default user
  Secret password;       // not given: no AUTH. Never logged; read anew for each connection
  TlsFiles tls;          // when on, a node must prove its name
  // Shared by all copies.
  std::shared_ptr<AnnouncedNames> announced = std::make_shared<AnnouncedNames>();
  std::chrono::milliseconds connect_timeout{1000};
  std::chrono::milliseconds command_timeout{2000};  // from sending to the reply
  std::shared_ptr<SilentNodes> silent_nodes;        // shared by blocking connections; may be null

  WindowLimits window;
  std::chrono::milliseconds timeline_ttl = std::chrono::hours(24 * 7);  // since last read
  std::chrono::milliseconds empty_ttl = kEmptyTimelineTtl;  // for one without items; not refreshed
  std::chrono::milliseconds building_ttl = std::chrono::seconds(60);  // limit of a rebuild
  std::chrono::seconds done_ttl = std::chrono::hours(1);  // of a sampled post's done: key

  // The tasks topic's, from table installation.
  uint32_t partitions = 16;  // the ranges: part of every key's name
  uint64_t generation = 1;   // no timeline is made in a range whose pos: has another one
  std::string key_prefix;    // starts all keys: installations may share a server

  // The pusher's connection.
  uint32_t timelines_per_call = 64;           // that a script call writes, at about 6 us each: so
                                              // long a reader's page waits for it
  uint32_t calls_in_flight = 8;               // of all batches, one of each; more wait here
  uint32_t max_requests = 4096;               // accepted and unanswered; more are answered kLater
  uint32_t scan_count = 1000;                 // keys per SCAN, and per call on what it found
  std::chrono::milliseconds heartbeat{1000};  // how often the node's identity is checked
  std::chrono::milliseconds map_every{5000};  // who serves which slot is asked so often, at least
  std::chrono::milliseconds slot_left_after{30000};  // a slot that migrates for longer was left so
  Backoff reconnect;

  // For a connection to that node.
  Options At(const Endpoint& node) const {
    Options copy = *this;
    copy.address = node;
    return copy;
  }
  Options AtSentinel(const Endpoint& sentinel) const {
    Options copy = At(sentinel);
    copy.username = sentinel_username;
    copy.password = sentinel_password;
    return copy;
  }
};

inline constexpr size_t kMostOfPrefix = 32;
// Letters, digits and "._:-" only: a prefix is part of patterns for SCAN, and braces make the tag.
inline bool IsKeyPrefix(std::string_view text) {
  return text.size() <= kMostOfPrefix && std::all_of(text.begin(), text.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) ||
                  std::string_view("._:-").find(c) != std::string_view::npos;
         });
}

}  // namespace fanline::redis
