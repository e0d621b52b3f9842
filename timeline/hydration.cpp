#include "timeline/hydration.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "fanline/base/check.h"

namespace fanline::timeline {
namespace {

// The post whose body the item shows.
PostId BodyOf(const Item& item) { return item.original ? item.original.post : item.post; }

}  // namespace

HydrationNeed Hydration::needed() const {
  switch (stage_) {
    case Stage::kPage: {
      PageQuery query = query_;
      query.limit -= static_cast<uint32_t>(page_.items.size());
      if (refills_ > 0) query.older_than = page_.next;
      return NeedPage{query};
    }
    case Stage::kBodies: {
      NeedBodies need;
      for (const Item& item : asked_.items) need.posts.push_back(BodyOf(item));
      return need;
    }
    case Stage::kDone:
      break;
  }
  return NothingNeeded{};
}

void Hydration::OnPage(Page page) {
  asked_ = std::exchange(static_cast<Folded&>(page), {});
  asked_next_ = page.next;
  if (refills_ == 0) {
    page_ = std::move(page);
    if (!asked_.items.empty()) bodies_.newest = PlaceOf(asked_, 0);
  }
  if (!asked_.items.empty()) {
    stage_ = Stage::kBodies;
    return;
  }
  page_.next = asked_next_;
  bodies_.available = true;
  stage_ = Stage::kDone;
}

void Hydration::OnBodies(BodiesRead read) {
  FANLINE_CHECK(read.looked_up > 0, "bodies are looked up, or the read is not done");
  bodies_.available = true;
  std::unordered_map<PostId, BodyValues> found;
  for (auto& [post, values] : read.found) found.emplace(post, std::move(values));
  const size_t looked_up = std::min(read.looked_up, asked_.items.size());
  for (size_t i = 0; i < looked_up; ++i) {
    const auto body = found.find(BodyOf(asked_.items[i]));
    if (body == found.end()) {
      ++bodies_.gone;
      continue;
    }
    TakeAsked(i);
    bodies_.of_items.push_back(body->second);  // of an original that each of its reposts shows
  }
  stage_ = Stage::kDone;
  if (looked_up < asked_.items.size()) {
    page_.next = PlaceOf(asked_, looked_up - 1);
    return;
  }
  page_.next = asked_next_;
  const bool full = page_.items.size() >= query_.limit;
  if (!page_.next || full || refills_ == kRefills) return;
  ++refills_;
  stage_ = Stage::kPage;
}

void Hydration::OnNoBodies() {
  stage_ = Stage::kDone;
  if (bodies_.available) return;  // a refill has no bodies
  static_cast<Folded&>(page_) = std::move(asked_);
  page_.next = asked_next_;
}

void Hydration::TakeAsked(size_t item) {
  if (!asked_.sources.empty() || !page_.sources.empty()) {
    for (size_t i = page_.sources.size(); i < page_.items.size(); ++i) {
      page_.sources.push_back({.place = PlaceOf(page_.items[i])});
    }
    page_.sources.push_back(asked_.sources.empty() ? Sources{.place = PlaceOf(asked_.items[item])}
                                                   : asked_.sources[item]);
  }
  page_.items.push_back(asked_.items[item]);
}

Page Hydration::Take(Bodies* bodies) {
  *bodies = std::move(bodies_);
  return std::move(page_);
}

}  // namespace fanline::timeline
