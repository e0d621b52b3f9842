// The mutes of readers who were served lately, as their shards answered them. A live timeline names
// a version, so what is held serves until the reader mutes or unmutes somebody. Bounded in bytes;
// the least recently used go first. Thread-safe.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "fanline/model/mutes.h"

namespace fanline::timeline {

class MutesCache {
 public:
  static constexpr size_t kMostBytes = 32 << 20;  // of 4,000 readers who mute as many as may be
  static constexpr size_t kBytesBeside = 200;     // of an entry, beside its authors

  explicit MutesCache(size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  // What was read for that version, or has it; 0: any. Null: not held. A later one does not serve:
  // a failover may have lost it.
  std::shared_ptr<const Mutes> Find(UserId reader, uint64_t version) {
    const std::lock_guard lock(mutex_);
    const auto found = by_reader_.find(reader);
    if (found == by_reader_.end() || !found->second->Is(version)) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->mutes;
  }
  // `version`: that was asked for. The mutes may have another: a change, or a failover that lost
  // it.
  void Put(UserId reader, uint64_t version, std::shared_ptr<const Mutes> mutes) {
    const std::lock_guard lock(mutex_);
    const auto found = by_reader_.find(reader);
    if (found != by_reader_.end()) Remove(found->second);
    entries_.push_front({reader, version, std::move(mutes)});
    by_reader_[reader] = entries_.begin();
    bytes_ += BytesOf(entries_.front());
    while (bytes_ > most_bytes_) Remove(std::prev(entries_.end()));
  }

  size_t bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  struct Entry {
    UserId reader{};
    uint64_t asked = 0;
    std::shared_ptr<const Mutes> mutes;
    bool Is(uint64_t version) const {
      return version == 0 || version == asked || version == mutes->version;
    }
  };
  using Entries = std::list<Entry>;  // the last used first

  static size_t BytesOf(const Entry& entry) {
    return kBytesBeside + sizeof(UserId) * entry.mutes->authors.capacity();
  }
  void Remove(Entries::iterator entry) {
    bytes_ -= BytesOf(*entry);
    by_reader_.erase(entry->reader);
    entries_.erase(entry);
  }

  const size_t most_bytes_;
  mutable std::mutex mutex_;
  Entries entries_;  // under mutex_, as the next two
  std::unordered_map<UserId, Entries::iterator> by_reader_;
  size_t bytes_ = 0;
};

}  // namespace fanline::timeline
