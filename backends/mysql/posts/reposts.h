// The reposts of a post: the requests of fanline/ports/reposts.h.
#pragma once

#include "backends/mysql/sql/connection.h"
#include "fanline/ports/reposts.h"

namespace fanline::mysql {

struct RepostsService {
  RepostersRead Do(Connection& connection, const ReadReposters& request) const;
  RepostsByRead Do(Connection& connection, const ReadRepostsBy& request) const;
};

}  // namespace fanline::mysql
