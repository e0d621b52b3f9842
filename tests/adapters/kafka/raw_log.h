// Reads a topic with librdkafka directly. It joins no group, so it need not wait for one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fanline/model/record.h"

namespace fanline::kafka::test {

// Returns the first `count` records of a partition from `from` on, or fewer if they do not come in
// time.
std::vector<Record> ReadLog(const std::string& brokers, const std::string& topic, int32_t partition,
                            size_t count, int64_t from = 0);

// The committed offset of a group; -1: none.
int64_t CommittedOffset(const std::string& brokers, const std::string& group,
                        const std::string& topic, int32_t partition);

// Commits as a group without members. Returns false if it was refused.
bool CommitOffset(const std::string& brokers, const std::string& group, const std::string& topic,
                  int32_t partition, int64_t offset);

// Appends `count` records with that timestamp. Returns false if not all were acknowledged in time.
bool WriteLog(const std::string& brokers, const std::string& topic, int32_t partition, int count,
              UnixMs timestamp);

// Deletes all records below `offset`, as retention does. Real brokers only.
bool TrimLog(const std::string& brokers, const std::string& topic, int32_t partition,
             int64_t offset);

}  // namespace fanline::kafka::test
