// An application's table of posts. Fails on demand, and counts. One thread at a time.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fanline/ports/post_bodies.h"

namespace fanline::fakes {

class FakePostBodies : public PostBodies {
 public:
  std::map<PostId, BodyValues> rows;
  std::vector<std::string> names{"text"};
  Status fails = Status::Done();
  size_t most_at_once = SIZE_MAX;  // looked up
  std::function<void()> on_read;
  std::vector<std::vector<PostId>> asked;

  void Put(uint64_t post, std::string text) { rows[PostId{post}] = {std::move(text)}; }

  const std::vector<std::string>& columns() const override { return names; }
  Status Read(const std::vector<PostId>& posts, BodiesRead* out) override {
    asked.push_back(posts);
    if (on_read) on_read();
    if (!fails.done()) return fails;
    *out = {};
    out->looked_up = std::min(most_at_once, posts.size());
    for (size_t i = 0; i < out->looked_up; ++i) {
      const auto row = rows.find(posts[i]);
      if (row != rows.end()) out->found.emplace_back(*row);
    }
    return Status::Done();
  }
};

// For owners that each want a port.
struct BodiesOf : PostBodies {
  explicit BodiesOf(PostBodies& shared) : bodies(shared) {}
  const std::vector<std::string>& columns() const override { return bodies.columns(); }
  Status Read(const std::vector<PostId>& posts, BodiesRead* out) override {
    return bodies.Read(posts, out);
  }
  PostBodies& bodies;
};

}  // namespace fanline::fakes
