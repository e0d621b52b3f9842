// For tests that decide when a request is answered: keeps each request with the address of its
// reply.
#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "fanline/ports/port.h"

namespace fanline::fakes {

// The inputs of a Step: an address that tests can look into.
template <class Input>
struct Inbox : std::vector<Input> {
  void Push(Input input) { this->push_back(std::move(input)); }
};

template <class R>
struct Asked {
  R request;
  ReplyTo<typename R::Reply> to;
};

// A request of one of some kinds. `asker`: the port it came through, where a test tells them apart.
template <class... R>
struct Request {
  std::variant<Asked<R>...> asked;
  int asker = 0;

  template <class One>
  One* As() {
    auto* found = std::get_if<Asked<One>>(&asked);
    return found == nullptr ? nullptr : &found->request;
  }
  template <class One>
  const One* As() const {
    const auto* found = std::get_if<Asked<One>>(&asked);
    return found == nullptr ? nullptr : &found->request;
  }
};

// Keeps the requests in order.
template <class... R>
class Keeper : public ServesAll<Keeper<R...>, R...> {
 public:
  using Request = fakes::Request<R...>;

  explicit Keeper(std::vector<Request>& kept, int asker = 0) : kept_(kept), asker_(asker) {}

  template <class One>
  void Serve(One request, ReplyTo<typename One::Reply> to) {
    kept_.push_back({Asked<One>{std::move(request), to}, asker_});
  }

 private:
  std::vector<Request>& kept_;
  const int asker_;
};

// An address where nothing arrives: the test gives the replies to Step by hand.
struct Nobody {
  template <class Reply>
  void Push(Reply) {}
};
inline Nobody nobody;

}  // namespace fanline::fakes
