// Reads a topic by librdkafka directly: no group, so no waiting for one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fanline/model/record.h"

namespace fanline::kafka::test {

// The first `count` records of a partition from `from` on; fewer when they do not come in time.
std::vector<Record> ReadLog(const std::string& brokers, const std::string& topic, int32_t partition,
                            size_t count, int64_t from = 0);

// The offset a group has committed; -1: none.
int64_t CommittedOffset(const std::string& brokers, const std::string& group,
                        const std::string& topic, int32_t partition);

// Commits as a group without members. False: refused.
bool CommitOffset(const std::string& brokers, const std::string& group, const std::string& topic,
                  int32_t partition, int64_t offset);

// Appends `count` records of that timestamp. False: not all in time.
bool WriteLog(const std::string& brokers, const std::string& topic, int32_t partition, int count,
              UnixMs timestamp);

// Forgets all records below `offset`, as retention does. Real brokers only.
bool TrimLog(const std::string& brokers, const std::string& topic, int32_t partition,
             int64_t offset);

}  // namespace fanline::kafka::test
