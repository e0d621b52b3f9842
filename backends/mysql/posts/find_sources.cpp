// Which originals some authors reposted in front of a place. Table `repost` names candidates; their
// rows in author_post are what counts.
#include <algorithm>
#include <set>

#include "backends/mysql/posts/post_rows.h"
#include "backends/mysql/posts/reader_truth.h"
#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {
namespace {

constexpr uint32_t kReposts = 1'000;  // of one read

struct Candidate {
  PostId original{};
  PostKey post;  // by whom, and which
};

class Search {
 public:
  Search(Connection& connection, const FindSources& asked)
      : connection_(connection), asked_(asked) {
    for (const Original& original : asked.originals) originals_.push_back(original.post);
    SortUnique(originals_);
  }

  std::vector<Original> Find() {
    ReadCandidates();
    // The newest first: ids rise with time in most applications, and one of each is enough.
    std::sort(candidates_.begin(), candidates_.end(),
              [](const Candidate& a, const Candidate& b) { return a.post.second > b.post.second; });
    for (size_t next = 0; next < candidates_.size();) Look(&next);
    return {found_.begin(), found_.end()};
  }

 private:
  // Reposts of all originals, in the order of the index. One that fills a read is searched for by
  // the authors instead, and the next read goes on behind it.
  void ReadCandidates() {
    ForEachChunk(originals_, kListLimit, [&](std::span<const PostId> chunk) {
      while (!chunk.empty()) {
        std::vector<Candidate> read = connection_.All(
            Sql("SELECT original_id, author_id, post_id FROM repost FORCE INDEX (PRIMARY)"
                " WHERE original_id IN ",
                InList(chunk), " ORDER BY original_id, author_id, post_id LIMIT ", kReposts),
            CandidateOf);
        if (read.size() < kReposts) return Take(read);
        const PostId crowded = read.back().original;
        std::erase_if(read, [&](const Candidate& each) { return each.original == crowded; });
        Take(read);
        ByAuthors(crowded);
        chunk = chunk.subspan(static_cast<size_t>(
            std::upper_bound(chunk.begin(), chunk.end(), crowded) - chunk.begin()));
      }
    });
  }
  void ByAuthors(PostId original) {
    ForEachChunk(asked_.by, kIdsLimit, [&](std::span<const UserId> chunk) {
      Take(connection_.All(
          Sql("SELECT original_id, author_id, post_id FROM repost FORCE INDEX (PRIMARY)"
              " WHERE original_id = ",
              original, " AND author_id IN ", InList(chunk)),
          CandidateOf));
    });
  }
  static Candidate CandidateOf(const Row& row) {
    return {PostId{row.UInt64(1)}, {UserId{row.UInt64(2)}, PostId{row.UInt64(3)}}};
  }
  void Take(const std::vector<Candidate>& read) {
    for (const Candidate& each : read) {
      const UserId by = each.post.first;
      if (std::binary_search(asked_.by.begin(), asked_.by.end(), by)) candidates_.push_back(each);
    }
  }

  // Reads the rows of the next candidates whose originals are not found yet.
  void Look(size_t* next) {
    std::vector<PostKey> keys;
    for (; *next < candidates_.size() && keys.size() < kListLimit; ++*next) {
      const Candidate& each = candidates_[*next];
      if (!found_posts_.contains(each.original)) keys.push_back(each.post);
    }
    if (keys.empty()) return;
    const Item place{asked_.in_front_of.post, asked_.in_front_of.created_at};
    for (const auto& [key, state] : ReadPostRows(connection_, keys)) {
      if (!state.visible() || !state.original) continue;
      if (IsNewer(place, Item{key.second, *state.created_at})) continue;
      const bool asked = std::find(asked_.originals.begin(), asked_.originals.end(),
                                   state.original) != asked_.originals.end();
      if (asked && found_.insert(state.original).second) found_posts_.insert(state.original.post);
    }
  }

  Connection& connection_;
  const FindSources& asked_;
  std::vector<PostId> originals_;
  std::vector<Candidate> candidates_;
  std::set<Original> found_;
  std::set<PostId> found_posts_;
};

}  // namespace

SourcesFound ReaderService::Do(Connection& connection, const FindSources& request) const {
  SourcesFound reply;
  reply.shard = connection.shard();
  reply.originals = Search(connection, request).Find();
  connection.RequirePrimary();
  return reply;
}

}  // namespace fanline::mysql
