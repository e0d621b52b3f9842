// What a server of SQL is, and what differs between those that hold the truth: MariaDB 10.11 and
// later, MySQL 8.0.29 and later (and what is MySQL under another name: Percona, Aurora MySQL 3.05
// and later).
//
// Statements are the same for all. Where the servers need different words, one text holds both:
// what stands in "/*M! */" only MariaDB runs, what stands in "/*!80000 */" only MySQL does. Error
// numbers are in errors.h.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace fanline::mysql {

struct Server {
  std::string name;     // "MariaDB 10.11.11"
  std::string refusal;  // why it is not supported, and what is; "": it is
};

// `version`: @@version, such as "10.11.11-MariaDB-0+deb12u1", "9.7.4-2" or "8.0.11-TiDB-v7.5.1".
Server ServerOf(std::string_view version);

// Whether such a server tells where its binary log ends, by the statement that we use. MySQL: since
// 8.2.
bool TellsEndOfBinlog(std::string_view version);

// The end of SET SESSION: how long a session that holds locks may hang (", ..."). MySQL ends only
// sessions that do nothing at all, and ends them in and out of a transaction. So there it takes a
// minute, twice as long as a pool leaves a connection without a look (PoolLimits::look_at_idle).
std::string IdleTransactionLimit(std::chrono::seconds limit);

// The end of SET SESSION: how long a statement may take is no matter of the server's.
extern const char* const kNoTimeLimit;

// A column: the same in all sessions from a server's start to its end, and another after the next.
// MariaDB: what its UUIDs end in, of which 14 bits are drawn at a start. MySQL draws them anew
// when its clock steps back; there it is the second of the start, which its uptime is counted from.
extern const char* const kServerStart;

// `select`, which begins with SELECT, ends with an error after `limit` (IsTimeLimit).
std::string Limited(std::chrono::milliseconds limit, std::string_view select);

}  // namespace fanline::mysql
