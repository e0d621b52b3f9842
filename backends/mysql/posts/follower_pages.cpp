#include "backends/mysql/posts/follower_pages.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/sql_text.h"
#include "fanline/base/check.h"
#include "fanline/model/delivery.h"

namespace fanline::mysql {
namespace {

// FORCE INDEX is needed. Otherwise the optimizer scans a table whose statistics are stale or small,
// or it thinks (dst, state, pos) as good and sorts every page.
// Those whose follow brings nothing are left out (fanline/model/delivery.h).
constexpr const char* kLiveFollowers =
    " FROM follower FORCE INDEX (PRIMARY) WHERE state = 1 AND delivery <> 2 AND ";

// The statement reads one row more than the page holds, which tells whether there is a next page.
void CutToPage(FollowerPage& page, uint32_t limit) {
  if (page.followers.size() <= limit) return;
  std::vector<UserId>& chosen = page.no_reposts;
  for (size_t i = page.followers.size(); i-- > limit;) {
    if (!chosen.empty() && chosen.back() == page.followers[i]) chosen.pop_back();
  }
  page.followers.resize(limit);
  const UserId last = page.followers.back();
  page.next = {BucketOf(last), last};
}

// `row` names a follower in `column`, and in the next one what his follow brings.
void TakeFollower(FollowerPage& page, const Row& row, uint32_t column) {
  const UserId reader{row.UInt64(column)};
  page.followers.push_back(reader);
  const bool chosen = StoredDelivery(row.Int64(column + 1)) == Delivery::kNoReposts;
  if (chosen) page.no_reposts.push_back(reader);
}

// A first page to read: one author in one range.
struct Slot {
  UserId author{};
  Range range = 0;
  uint32_t limit = 0;
  bool alone = false;  // the author is known to exceed a page: no shared statement
  bool done = false;
  FollowerPage page;

  bool full() const { return page.followers.size() > limit; }
};

// Neighbouring ranges of one author that are still to be read.
struct Run {
  Slot* begin;
  Slot* end;

  UserId author() const { return begin->author; }
  Range first() const { return begin->range; }
  Range last() const { return (end - 1)->range; }
  bool alone() const { return begin->alone; }
};

class FirstPages {
 public:
  FirstPages(Connection& connection, const RangeLayout& layout, std::vector<Slot> slots,
             PageReaderLimits limits)
      : connection_(connection), layout_(layout), slots_(std::move(slots)), limits_(limits) {}

  // Every statement of a round finishes at least its first slot.
  std::vector<Slot> Read() {
    for (auto runs = PendingRuns(); !runs.empty(); runs = PendingRuns()) {
      for (size_t begin = 0; begin < runs.size();) {
        const size_t end = EndOfStatement(runs, begin);
        ReadTogether(std::span<const Run>(runs).subspan(begin, end - begin));
        begin = end;
      }
    }
    return std::move(slots_);
  }

 private:
  // In the order of author and range, except that runs to be read alone come last.
  std::vector<Run> PendingRuns() {
    std::vector<Run> runs;
    for (Slot& slot : slots_) {
      if (slot.done) continue;
      const bool continues = !runs.empty() && !slot.alone && runs.back().end == &slot &&
                             runs.back().author() == slot.author && !runs.back().alone() &&
                             runs.back().last() + 1 == slot.range;
      if (continues) {
        ++runs.back().end;
      } else {
        runs.push_back({&slot, &slot + 1});
      }
    }
    std::stable_partition(runs.begin(), runs.end(), [](const Run& run) { return !run.alone(); });
    return runs;
  }

  size_t EndOfStatement(const std::vector<Run>& runs, size_t begin) const {
    size_t end = begin + 1;
    if (runs[begin].alone()) return end;
    while (end < runs.size() && end - begin < together_ && !runs[end].alone()) ++end;
    return end;
  }

  // Authors of the same ranges share a list. Ranges that lag ask for older posts than the others,
  // so a batch may hold any mixture.
  std::string SqlOf(std::span<const Run> runs, size_t limit) const {
    std::map<std::pair<Range, Range>, std::vector<UserId>> by_ranges;
    for (const Run& run : runs) by_ranges[{run.first(), run.last()}].push_back(run.author());
    std::string sql = Sql("SELECT dst, bucket, src, delivery", kLiveFollowers);
    const char* before = "((dst IN ";
    for (const auto& [ranges, authors] : by_ranges) {
      AppendSql(sql, std::exchange(before, " OR (dst IN "), InList(authors), " AND bucket BETWEEN ",
                layout_.First(ranges.first), " AND ", layout_.Last(ranges.second), ")");
    }
    AppendSql(sql, ") ORDER BY dst, bucket, src LIMIT ", limit);
    return sql;
  }

  // The runs are in the order of author and range, like the rows.
  void ReadTogether(std::span<const Run> runs) {
    const size_t bound = RowBound(runs);
    size_t rows = 0;
    auto run = runs.begin();
    Slot* slot = run->begin;
    connection_.Query(SqlOf(runs, bound), [&](const Row& row) {
      ++rows;
      const UserId author{row.UInt64(1)};
      const Range range = layout_.RangeOf(static_cast<Bucket>(row.UInt64(2)));
      while (run != runs.end() && (run->author() != author || run->last() < range)) ++run;
      FANLINE_CHECK(run != runs.end() && run->first() <= range, "rows come in order");
      slot = run->begin + (range - run->first());
      if (!slot->full()) TakeFollower(slot->page, row, 3);
    });
    if (rows < bound) {
      for (const Run& each : runs) Finish(each.begin, each.end);
    } else {
      FinishCut(runs, static_cast<size_t>(run - runs.begin()), slot);
    }
  }

  size_t RowBound(std::span<const Run> runs) const {
    size_t wanted = 0, largest = 0;
    for (const Run& run : runs) {
      for (const Slot* slot = run.begin; slot != run.end; ++slot) {
        wanted += size_t{slot->limit} + 1;
        largest = std::max(largest, size_t{slot->limit} + 1);
      }
    }
    return std::max(largest, std::min(wanted, limits_.rows_per_statement));
  }

  static void Finish(Slot* begin, Slot* end) {
    for (Slot* slot = begin; slot != end; ++slot) {
      slot->done = true;
      CutToPage(slot->page, slot->limit);
    }
  }

  // The last row of the statement fell into slot `last` of runs[cut]. The slots before it were read
  // in full, `last` itself only if it is full, and the slots behind it are unknown.
  void FinishCut(std::span<const Run> runs, size_t cut, Slot* last) {
    for (size_t i = 0; i < cut; ++i) Finish(runs[i].begin, runs[i].end);
    if (runs.size() > 1) together_ = runs.size() / 2;
    const Run& run = runs[cut];
    Finish(run.begin, last);
    if (!last->full()) {
      last->page = {};
      return;
    }
    Finish(last, last + 1);
    // In all ranges, including those that are not neighbours.
    for (Slot* slot = last + 1;
         slot != slots_.data() + slots_.size() && slot->author == last->author; ++slot) {
      slot->alone = true;
    }
  }

  Connection& connection_;
  const RangeLayout& layout_;
  std::vector<Slot> slots_;  // sorted by (author, range), without duplicates; addresses stay
  const PageReaderLimits limits_;
  size_t together_ = kAuthorsLimit;  // authors of a statement
};

// The rest of one bucket, then whole buckets. The comparison (bucket, src) > (?, ?) is three times
// slower.
FollowerPage ReadLaterPage(Connection& connection, const RangeLayout& layout,
                           const ReadFollowerPage& query) {
  FollowerPage page;
  const auto append = [&](const Row& row) { TakeFollower(page, row, 1); };
  const std::string of_author = Sql("SELECT src, delivery", kLiveFollowers, "dst = ", query.author);
  const uint32_t wanted = query.limit + 1;
  connection.Query(Sql(of_author, " AND bucket = ", query.after->bucket, " AND src > ",
                       query.after->reader, " ORDER BY src LIMIT ", wanted),
                   append);
  const auto read = static_cast<uint32_t>(page.followers.size());
  const Bucket last = layout.Last(query.range);
  if (read < wanted && query.after->bucket < last) {
    connection.Query(Sql(of_author, " AND bucket BETWEEN ", query.after->bucket + 1, " AND ", last,
                         " ORDER BY bucket, src LIMIT ", wanted - read),
                     append);
  }
  CutToPage(page, query.limit);
  return page;
}

// The first pages that are asked for: each (author, range) once, with the largest limit.
std::vector<Slot> SlotsOf(const std::vector<ReadFollowerPage>& queries,
                          const PageReaderLimits& reader) {
  std::map<std::pair<UserId, Range>, uint32_t> limits;
  for (const ReadFollowerPage& query : queries) {
    if (query.after) continue;
    uint32_t& limit = limits[{query.author, query.range}];
    limit = std::max(limit, query.limit);
  }
  std::vector<Slot> slots;
  for (const auto& [key, limit] : limits) {
    slots.push_back({.author = key.first,
                     .range = key.second,
                     .limit = limit,
                     .alone = limit > reader.rows_merged,
                     .page = {}});
  }
  return slots;
}

FollowerPage PageFor(const ReadFollowerPage& query, const std::vector<Slot>& slots) {
  const auto slot = std::lower_bound(
      slots.begin(), slots.end(), query, [](const Slot& a, const ReadFollowerPage& b) {
        return std::pair(a.author, a.range) < std::pair(b.author, b.range);
      });
  FollowerPage page = slot->page;
  CutToPage(page, query.limit);
  return page;
}

}  // namespace

std::vector<FollowerPage> ReadFollowerPages(Connection& connection, const RangeLayout& layout,
                                            const std::vector<ReadFollowerPage>& queries,
                                            PageReaderLimits limits) {
  for (const ReadFollowerPage& query : queries)
    FANLINE_CHECK(query.limit > 0, "a page holds followers");
  const auto slots = FirstPages(connection, layout, SlotsOf(queries, limits), limits).Read();
  std::vector<FollowerPage> pages;
  for (const ReadFollowerPage& query : queries) {
    pages.push_back(query.after ? ReadLaterPage(connection, layout, query) : PageFor(query, slots));
  }
  return pages;
}

}  // namespace fanline::mysql
