// How logic asks for what it cannot do itself, and how the replies find their way home.
//
// A request is a struct that names its reply: `using Reply = struct EdgesApplied;`. Both carry an
// `id`, by which the asker matches the two. An adapter serves some kinds of requests
// (Serves<R>); logic holds a Port for the kinds it submits: the server, and the address of the
// replies. Port and address are bound once, where a program is wired:
//
//   daemon::Inbox<PairReconcilerInput> inbox;
//   const auto to_checker = AsPart<CheckerReply>(inbox);
//   Checker checker({.store = {store, to_checker}, .hints = {producer, to_checker}, ..});
//
// Only the asker looks at ids, and nobody sorts replies: two askers in one process never share an
// address. Two askers behind one Step each have a variant of replies of their own, nested in the
// variant of the inputs.
//
// A request may have a turn (fanline/base/turn.h): a server with queues of its own keeps to it, and
// all others ignore it.
//
// Every request is answered exactly once at its address, unless its server is destroyed first. A
// reply reports what was done at some moment after Submit. After kLater some of it may have been
// done: requests are repeatable. Submit never blocks on the outside. A reply may come from any
// thread, and from within Submit.
#pragma once

#include <utility>
#include <variant>

#include "fanline/base/outcome.h"
#include "fanline/base/turn.h"

namespace fanline {

// See AsPart.
template <class Part, class Inbox>
struct PartOf {
  Inbox& inbox;
};

// The address of replies that are one part of what `inbox` takes: they arrive as a Part.
template <class Part, class Inbox>
PartOf<Part, Inbox> AsPart(Inbox& inbox) {
  return {inbox};
}

// Where a reply goes: two words, not owning. The receiver outlives every server that may answer
// there. Made of anything that has Push(Reply), or of a part of it (AsPart); the default drops
// replies. Any thread may call it, if any may call Push.
template <class Reply>
class ReplyTo {
 public:
  ReplyTo() = default;
  template <class Receiver>
  requires requires(Receiver& receiver, Reply reply) { receiver.Push(std::move(reply)); }
  ReplyTo(Receiver& receiver)
      : receiver_(&receiver),
        push_([](void* to, Reply&& reply) { static_cast<Receiver*>(to)->Push(std::move(reply)); }) {
  }
  template <class Part, class Inbox>
  ReplyTo(PartOf<Part, Inbox> part)
      : receiver_(&part.inbox), push_([](void* to, Reply&& reply) {
          static_cast<Inbox*>(to)->Push(Part(std::move(reply)));
        }) {}

  void operator()(Reply reply) const {
    if (push_ != nullptr) push_(receiver_, std::move(reply));
  }

 private:
  void* receiver_ = nullptr;
  void (*push_)(void*, Reply&&) = nullptr;
};

// The adapter's side of requests of one kind.
template <class R>
class Serves {
 public:
  virtual ~Serves() = default;
  virtual void Submit(R request, ReplyTo<typename R::Reply> to) = 0;
  virtual void SubmitInTurn(R request, ReplyTo<typename R::Reply> to, Turn /*turn*/) {
    Submit(std::move(request), to);
  }
};

// A request, and where its reply goes.
template <class R>
struct Submitted {
  R request;
  ReplyTo<typename R::Reply> to;
};

// The reply to a request that failed.
template <class R>
typename R::Reply FailureOf(const R& request, const Status& status) {
  typename R::Reply reply;
  reply.id = request.id;
  if constexpr (requires { reply.shard = request.shard; }) reply.shard = request.shard;
  reply.status = status;
  return reply;
}

// For a server of several kinds: Self has Serve(request, to), or Serve(request, to, turn), for each
// of them.
template <class Self, class R>
class ServesOne : public Serves<R> {
 public:
  void Submit(R request, ReplyTo<typename R::Reply> to) final {
    SubmitInTurn(std::move(request), to, {});
  }
  void SubmitInTurn(R request, ReplyTo<typename R::Reply> to, Turn turn) final {
    Self& self = *static_cast<Self*>(this);
    if constexpr (requires { self.Serve(std::move(request), to, std::move(turn)); }) {
      self.Serve(std::move(request), to, std::move(turn));
    } else {
      self.Serve(std::move(request), to);
    }
  }
};
template <class Self, class... R>
class ServesAll : public ServesOne<Self, R>... {
 public:
  using ServesOne<Self, R>::Submit...;
  using ServesOne<Self, R>::SubmitInTurn...;
  using AnySubmitted = std::variant<Submitted<R>...>;
};

// One kind of a Port.
template <class R>
class PortOf {
 public:
  PortOf(Serves<R>& server, ReplyTo<typename R::Reply> to) : server_(&server), to_(to) {}
  void Submit(R request) const { server_->Submit(std::move(request), to_); }
  void Submit(R request, Turn turn) const {
    server_->SubmitInTurn(std::move(request), to_, std::move(turn));
  }

 private:
  Serves<R>* server_;
  ReplyTo<typename R::Reply> to_;
};

// The asker's side. `server` serves each R, `receiver` is an address of each reply; both outlive
// the port. A port converts to one of fewer kinds.
template <class... R>
class Port : public PortOf<R>... {
 public:
  template <class Server, class Receiver>
  Port(Server& server, Receiver&& receiver) : PortOf<R>(server, receiver)... {}
  template <class... More>
  Port(const Port<More...>& wider) : PortOf<R>(wider)... {}
  using PortOf<R>::Submit...;
};

}  // namespace fanline
