// Folds what a page has read into the items that it shows. An original and all its reposts, its
// *sources*, are one item. It stands at the place of the newest source. A repost is shown only if
// its original can be seen: the caller is asked for the state of each (unknown()). A page behind a
// cursor leaves out what a source in front of the cursor has moved there
// (docs/decisions/0048-reposts.md).
//
// Sources come newest first, each once. The answers take O(what was read).
//
// Passive, not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "fanline/model/item.h"
#include "fanline/model/mutes.h"
#include "fanline/model/post_state.h"
#include "fanline/ports/reader_ports.h"
#include "timeline/pull.h"

namespace fanline::timeline {

// How a page shows reposts: with their original as one item, each as an item of its own, or not.
enum class Reposts { kMerge, kEach, kNone };

struct Repost {
  UserId by{};
  UnixMs at = 0;
  PostId post{};
  friend bool operator==(const Repost&, const Repost&) = default;
};

// What brought an item to a page.
struct Sources {
  Position place{};             // the newest one's
  bool posted = false;          // the author's own post was among what was read
  std::vector<Repost> reposts;  // the newest of what was read, newest first, one of each reposter
  bool more = false;            // there may be more
};

// The items that a page shows.
struct Folded {
  std::vector<Item> items;       // newest place first. Of an original: as if it was not reposted
  std::vector<Sources> sources;  // of each item; empty: nothing was reposted
};
inline Position PlaceOf(const Folded& page, size_t item) {
  return page.sources.empty() ? PlaceOf(page.items[item]) : page.sources[item].place;
}

class Fold {
 public:
  static constexpr size_t kNamed = 20;  // reposts of an item

  explicit Fold(Reposts how) : how_(how) {}

  // Whose posts are left out, and originals of theirs. Before any source. Null: nobody's.
  void Mute(std::shared_ptr<const Mutes> muted) { muted_ = std::move(muted); }

  // Sources older than all before.
  void Add(const std::vector<Item>& sources);
  // Sources among those before.
  void Merge(const std::vector<Item>& sources);
  // Forgets sources behind the place, and the one there unless it stays.
  void CutAt(const Position& place, bool stays = false);
  size_t size() const { return sources_.size(); }
  // The last source.
  std::optional<Position> last() const;

  // Originals whose states are needed, to be given to Know. Not visible, or nothing: its reposts
  // are left out.
  std::vector<Original> unknown() const { return {unknown_.begin(), unknown_.end()}; }
  void Know(const Original& original, const std::optional<PostState>& state);

  // Sources in front of the cursor; their times are not looked at.
  void PutInFront(const std::vector<Item>& sources);
  // What may have a source in front of the cursor that is not known yet: what the items show, in
  // order. What was asked for is not asked for again. Call it when nothing is unknown.
  std::vector<Original> Unchecked();
  // When the original was published, if it is known and can be seen.
  std::optional<UnixMs> PublishedAt(const Original& original) const;
  void PutInFront(const Original& original) { in_front_.insert(original); }

  // How many items these sources give, at most `most`; of the sources down to the place, if given.
  size_t Count(size_t most, const std::optional<Position>& down_to = {}) const;
  // The place of the last of `most` items; nothing: there are fewer.
  std::optional<Position> PlaceOfLast(size_t most) const;
  // The first `most` items. `all`: nothing behind the sources was left unread.
  Folded Take(size_t most, bool all) const;

 private:
  // What a source shows, if it can be seen.
  struct Shown {
    Original what;
    UnixMs created_at = 0;
  };
  bool Wants(const Item& source) const;
  void Need(const Item& source);
  const PostState* StateOf(const Original& original) const;
  std::optional<Shown> ShownBy(const Item& source) const;
  bool IsInFront(const Item& source, const Original& shown) const;
  // Calls `each(source, shown, new)` for each source that is shown, until it returns false.
  template <class Each>
  void Walk(const Each& each) const;

  Reposts how_;
  std::shared_ptr<const Mutes> muted_;
  std::vector<Item> sources_;
  bool reposts_ = false;  // there is one among them
  std::map<Original, std::optional<PostState>> known_;
  std::set<Original> unknown_, in_front_, checked_;
};

}  // namespace fanline::timeline
