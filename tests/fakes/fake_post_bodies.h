// An application's table of posts. Fails on demand, and counts. One thread at a time.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fanline/ports/port.h"
#include "fanline/ports/post_bodies.h"

namespace fanline::fakes {

class FakePostBodies : public ServesOne<FakePostBodies, ReadBodies> {
 public:
  std::map<PostId, BodyValues> rows;
  std::vector<std::string> names{"text"};
  Status fails = Status::Done();
  size_t most_at_once = SIZE_MAX;  // looked up
  std::function<void()> on_read;
  std::vector<std::vector<PostId>> asked;

  void Put(uint64_t post, std::string text) { rows[PostId{post}] = {std::move(text)}; }

  bool holds = false;  // requests are answered by Release

  void Serve(const ReadBodies& request, ReplyTo<BodiesAnswered> to) {
    if (holds) return held_.push_back([=, this] { Answer(request, to); });
    Answer(request, to);
  }
  void Release() {
    holds = false;
    for (const auto& answer : std::exchange(held_, {})) answer();
  }

  Status Read(const std::vector<PostId>& posts, BodiesRead* out) {
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

 private:
  void Answer(const ReadBodies& request, ReplyTo<BodiesAnswered> to) {
    BodiesAnswered reply;
    reply.status = Read(request.posts, &reply.read);
    reply.id = request.id;
    to(std::move(reply));
  }

  std::vector<std::function<void()>> held_;
};

}  // namespace fanline::fakes
