#include "http/server.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "http/answer.h"
#include "http/request_reader.h"

namespace fanline::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
using Error = boost::system::error_code;

constexpr size_t kReadAtOnce = 16 * 1024;
constexpr int kBacklog = 1'024;  // connections that wait to be accepted
constexpr std::chrono::milliseconds kLongestTick{250};
constexpr std::chrono::milliseconds kAcceptAgain{50};  // when there is no descriptor left
// Clients above the limit that may be getting their 503; any more are cut off without an answer.
constexpr size_t kMostTurnedAway = 128;
// Idle connections that one newcomer looks through for one whose next request has not come.
constexpr size_t kMostLookedAt = 16;

enum class State {
  kIdle,       // between two requests
  kHead,       // a request has begun to arrive
  kBody,       // its head has come
  kServing,    // the answering thread writes; the leader looks now and then if its client left
  kWriting,    // the kernel has not taken the whole answer yet
  kLingering,  // answers no more; waits for the client to close its side
};

struct Connection : std::enable_shared_from_this<Connection> {
  Connection(tcp::socket from, const Limits& limits) : socket(std::move(from)), reader(limits) {}

  tcp::socket socket;
  RequestReader reader;
  State state = State::kIdle;
  bool awaits_read = false, awaits_write = false;  // a handler is pending
  bool turned_away = false;
  bool serves = false;  // a request, not a refusal
  AnswerForm form;
  bool broken = false;  // it cannot be written to
  Time deadline = Time::max();
  std::optional<std::list<Connection*>::iterator> idles;  // its place among the idle ones
  // Of the request that is served: false once the client has closed its side.
  std::shared_ptr<std::atomic<bool>> alive;
  std::string in;   // bytes received and not yet taken; empty while idle
  std::string out;  // an answer from out_at on
  size_t out_at = 0;
  size_t kept = 0;  // bytes of `out` that count as kept
  size_t drained = 0;
};

using ConnectionPtr = std::shared_ptr<Connection>;

// A quarter of the shortest limit: limits are kept to that precision.
Clock::duration TickOf(const Limits& limits) {
  const auto shortest = std::min({limits.head_time, limits.body_time, limits.write_time,
                                  limits.idle_time, limits.linger_time, limits.stop_time});
  return std::clamp(shortest / 4, std::chrono::milliseconds(2), kLongestTick);
}

void Release(std::string& text) { std::string().swap(text); }

}  // namespace

class Server::Impl {
 public:
  Impl(const std::string& host, uint16_t port, const Limits& limits, Service& service)
      : service_(service), limits_(limits), tick_(TickOf(limits)), scratch_(kReadAtOnce) {
    Listen(host, port);
    Accept();
    while (threads_.size() < limits_.threads) threads_.emplace_back([this] { Run(); });
  }

  ~Impl() {
    Stop();
    for (std::thread& thread : threads_) thread.join();
    while (answering_ > 0) std::this_thread::yield();  // a thread that answered is still in Answer
  }

  uint16_t port() const { return port_; }
  bool stopped() const { return stopped_; }

  void Stop() {
    if (stopping_.exchange(true)) return;
    asio::post(io_, [this] { CloseWhatIsIdle(); });
  }

 private:
  struct Ready {
    Connection* connection = nullptr;
    Request request;
  };

  // One thread leads at a time: it waits for connections and touches them. It serves the request it
  // gets by itself and lets another thread lead, so the client does not wait for a thread to wake.
  void Run() {
    for (;;) {
      Ready ready;
      {
        const std::lock_guard lock(leading_);
        while (ready_.empty() && !ended_) ended_ = io_.run_one() == 0;
        if (ready_.empty()) break;
        ready = std::move(ready_.front());
        ready_.pop_front();
      }
      Give(ready);
    }
    stopped_ = true;
  }

  // ---- connections come -------------------------------------------------------------------------

  // SO_REUSEADDR for a quick restart. Not SO_REUSEPORT, with which two daemons share one port and
  // each answers half of the requests.
  void Listen(const std::string& host, uint16_t port) {
    const auto fail = [&](const std::string& why) {
      const bool v6 = host.find(':') != std::string::npos;
      throw std::runtime_error("cannot listen on " + (v6 ? "[" + host + "]" : host) + ":" +
                               std::to_string(port) + ": " + why);
    };
    Error error;
    tcp::resolver resolver(io_);
    const auto places = resolver.resolve(host, std::to_string(port), tcp::resolver::passive, error);
    if (error || places.empty()) fail("no such address");
    for (const auto& place : places) {
      acceptor_ = tcp::acceptor(io_);
      acceptor_.open(place.endpoint().protocol(), error);
      if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
      if (!error) acceptor_.bind(place.endpoint(), error);
      if (!error) acceptor_.listen(kBacklog, error);
      if (!error) break;
    }
    if (error) fail(error.message());
    acceptor_.non_blocking(true);
    port_ = acceptor_.local_endpoint().port();
  }

  void Accept() {
    acceptor_.async_accept([this](const Error& error, tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (!error) Take(std::move(socket));
      const bool none_left = error == asio::error::no_descriptors ||
                             error == boost::system::errc::too_many_files_open_in_system ||
                             error == asio::error::no_buffer_space ||
                             error == asio::error::no_memory;
      if (!none_left) return Accept();
      accept_again_.expires_after(kAcceptAgain);
      accept_again_.async_wait([this](const Error& cancelled) {
        if (!cancelled && acceptor_.is_open()) Accept();
      });
    });
  }

  void Take(tcp::socket socket) {
    Error ignored;
    socket.set_option(tcp::no_delay(true),
                      ignored);  // or answers wait for the client's delayed ACK
    auto connection = std::make_shared<Connection>(std::move(socket), limits_);
    if (clients_ >= limits_.connections && !CloseAnIdleOne()) return TurnAway(connection);
    connections_.insert(connection);
    service_.Connected(++clients_);
    Enter(*connection, State::kIdle);
    AwaitReadable(connection);
    StartTicking();
  }

  // False: none has been idle for long enough.
  bool CloseAnIdleOne() {
    const Time idle_since = Clock::now() - limits_.idle_at_least;
    size_t looked_at = 0;
    for (Connection* idle : idle_) {
      if (idle->deadline - limits_.idle_time > idle_since) break;
      if (++looked_at > kMostLookedAt) break;
      if (Peek(*idle) > 0) continue;
      service_.ClosedIdle();
      Close(idle->shared_from_this());
      return true;
    }
    return false;
  }

  void TurnAway(const ConnectionPtr& connection) {
    service_.TurnedAway();
    if (turned_away_ >= kMostTurnedAway) return;
    ++turned_away_;
    connection->turned_away = true;
    connections_.insert(connection);
    Refuse(connection, 503, "too many clients are connected; come back later");
    StartTicking();
  }

  void Close(const ConnectionPtr& connection) {
    Error ignored;
    connection->socket.close(ignored);
    NotIdle(*connection);
    Keep(*connection, 0);
    if (connections_.erase(connection) == 0) return;
    if (connection->turned_away) {
      --turned_away_;
    } else {
      service_.Connected(--clients_);
    }
    EndIfAllAreGone();
  }

  // ---- requests ---------------------------------------------------------------------------------

  void AwaitReadable(const ConnectionPtr& connection) {
    if (std::exchange(connection->awaits_read, true)) return;
    connection->socket.async_wait(tcp::socket::wait_read, [this, connection](const Error& error) {
      connection->awaits_read = false;
      if (!connection->socket.is_open()) return;
      if (error) return Close(connection);
      // Bytes that arrive while the request is answered wait until that is done.
      const State state = connection->state;
      if (state == State::kServing) return NoteWhetherItLeft(*connection);
      if (state != State::kWriting) Receive(connection);
    });
  }

  void NoteWhetherItLeft(Connection& connection) {
    if (!connection.serves) return;
    const ssize_t size = Peek(connection);
    if (size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR))) return;
    *connection.alive = false;
    service_.Serving(serving_, ++left_);
  }

  // Like recv for one byte that stays there: 1, or 0 if the client has closed its side.
  static ssize_t Peek(Connection& connection) {
    char byte = 0;
    return ::recv(connection.socket.native_handle(), &byte, 1, MSG_DONTWAIT | MSG_PEEK);
  }

  void AwaitWritable(const ConnectionPtr& connection) {
    if (std::exchange(connection->awaits_write, true)) return;
    connection->socket.async_wait(tcp::socket::wait_write, [this, connection](const Error& error) {
      connection->awaits_write = false;
      if (!connection->socket.is_open()) return;
      if (error) return Close(connection);
      if (connection->state != State::kWriting) return;
      Send(*connection);
      Written(connection);
    });
  }

  void Receive(const ConnectionPtr& connection) {
    const ssize_t size =
        ::recv(connection->socket.native_handle(), scratch_.data(), scratch_.size(), MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return AwaitReadable(connection);
    if (size <= 0) return Close(connection);
    const std::string_view bytes(scratch_.data(), static_cast<size_t>(size));
    if (connection->state == State::kLingering) {
      connection->drained += bytes.size();
      return connection->drained > limits_.drained ? Close(connection) : AwaitReadable(connection);
    }
    connection->in.append(bytes);
    Read(connection);
  }

  void Read(const ConnectionPtr& connection) {
    std::string& in = connection->in;
    const auto [found, taken] = connection->reader.Read(in);
    if (found == RequestReader::Found::kRefused) {
      const Refusal refusal = connection->reader.refusal();
      return Refuse(connection, refusal.status, refusal.detail);
    }
    in.erase(0, taken);
    if (in.empty()) Release(in);
    if (found == RequestReader::Found::kRequest) return Serve(connection);
    const State state = connection->reader.in_body() ? State::kBody
                        : in.empty()                 ? State::kIdle
                                                     : State::kHead;
    if (state != connection->state) Enter(*connection, state);
    if (connection->reader.TakeExpectation() && !SendContinue(*connection)) {
      return Close(connection);
    }
    AwaitReadable(connection);
  }

  // The kernel has taken all earlier answers, so it has room for a line.
  static bool SendContinue(Connection& connection) {
    constexpr std::string_view kText = "HTTP/1.1 100 Continue\r\n\r\n";
    return ::send(connection.socket.native_handle(), kText.data(), kText.size(),
                  MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(kText.size());
  }

  void Serve(const ConnectionPtr& connection) {
    Enter(*connection, State::kServing);
    connection->serves = true;
    connection->alive = std::make_shared<std::atomic<bool>>(true);
    service_.Serving(++serving_, left_);
    const RequestReader& reader = connection->reader;
    connection->form = {.head_only = reader.head_only(),
                        .close = !reader.keep_alive() || !limits_.keep_alive,
                        .keep_alive = reader.says_keep_alive()};
    ready_.push_back({connection.get(), connection->reader.Take()});
    ready_.back().request.alive = connection->alive;
  }

  // Nobody else closes the connection while its request is served, so it stays.
  void Give(Ready& ready) {
    Connection* served = ready.connection;
    try {
      service_.Serve(std::move(ready.request),
                     [this, served](const Response& response) { Answer(*served, response); });
    } catch (const std::exception&) {
      Answer(*served, service_.Refuse(500, {}));
    }
  }

  // Nothing that the client sends from here on is a request.
  void Refuse(const ConnectionPtr& connection, int status, const std::string& detail) {
    Enter(*connection, State::kServing);
    Release(connection->in);
    connection->form = {.head_only = connection->reader.head_only(), .close = true};
    Answer(*connection, service_.Refuse(status, detail));
  }

  // ---- answers ----------------------------------------------------------------------------------

  // Any thread: the client has its answer before our own thread is woken.
  void Answer(Connection& connection, const Response& response) {
    ++answering_;
    connection.form.close = connection.form.close || stopping_;
    connection.out = AnswerText(response, connection.form, std::time(nullptr));
    connection.out_at = 0;
    Send(connection);
    const bool taken = connection.broken || connection.out_at == connection.out.size();
    if (!taken) Keep(connection, connection.out.size());
    asio::post(io_, [this, &connection] { Sent(connection.shared_from_this()); });
    --answering_;
  }

  void Keep(Connection& connection, size_t bytes) {
    const size_t kept = std::exchange(connection.kept, bytes);
    if (kept != bytes) service_.Kept(static_cast<int64_t>(bytes) - static_cast<int64_t>(kept));
  }

  static void Send(Connection& connection) {
    const std::string_view rest = std::string_view(connection.out).substr(connection.out_at);
    const ssize_t size = ::send(connection.socket.native_handle(), rest.data(), rest.size(),
                                MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size >= 0) {
      connection.out_at += static_cast<size_t>(size);
    } else {
      connection.broken = errno != EAGAIN && errno != EINTR;
    }
  }

  void Sent(const ConnectionPtr& connection) {
    if (std::exchange(connection->serves, false)) {
      if (!*connection->alive) --left_;
      service_.Serving(--serving_, left_);
    }
    Enter(*connection, State::kWriting);
    Written(connection);
  }

  void Written(const ConnectionPtr& connection) {
    if (connection->broken) return Close(connection);
    if (connection->out_at < connection->out.size()) return AwaitWritable(connection);
    Release(connection->out);
    Keep(*connection, 0);
    if (connection->form.close) return Linger(connection);
    Enter(*connection, State::kIdle);
    if (stopping_) return CloseIfNothingCame(connection);
    if (connection->in.empty()) return AwaitReadable(connection);
    Read(connection);
  }

  // Closing at once would reset the connection if the client has sent more, and it might never see
  // the answer.
  void Linger(const ConnectionPtr& connection) {
    Release(connection->in);
    ::shutdown(connection->socket.native_handle(), SHUT_WR);
    Enter(*connection, State::kLingering);
    AwaitReadable(connection);
  }

  // ---- time -------------------------------------------------------------------------------------

  void Enter(Connection& connection, State state) {
    const Time now = Clock::now();
    NotIdle(connection);
    if (state == State::kIdle) connection.idles = idle_.insert(idle_.end(), &connection);
    connection.state = state;
    connection.deadline = TimeOf(state) == kForEver ? Time::max() : now + TimeOf(state);
    if (stopping_) HurryUp(connection, now);
  }

  void NotIdle(Connection& connection) {
    if (connection.idles) idle_.erase(*connection.idles);
    connection.idles.reset();
  }

  // The service has bounds of its own.
  static constexpr std::chrono::milliseconds kForEver = std::chrono::milliseconds::max();

  std::chrono::milliseconds TimeOf(State state) const {
    const std::chrono::milliseconds times[] = {limits_.idle_time,  limits_.head_time,
                                               limits_.body_time,  kForEver,
                                               limits_.write_time, limits_.linger_time};
    return times[static_cast<size_t>(state)];
  }

  void HurryUp(Connection& connection, Time now) {
    if (connection.state == State::kServing) return;
    connection.deadline = std::min(connection.deadline, now + limits_.stop_time);
  }

  void StartTicking() {
    if (std::exchange(ticking_, true)) return;
    timer_.expires_after(tick_);
    timer_.async_wait([this](const Error&) {
      ticking_ = false;
      CutOffTheSlow();
      if (!connections_.empty()) StartTicking();
    });
  }

  void CutOffTheSlow() {
    const Time now = Clock::now();
    std::vector<ConnectionPtr> late;
    for (const ConnectionPtr& connection : connections_) {
      if (connection->deadline <= now) late.push_back(connection);
      // Whether its client leaves. An answer that takes less than a tick shall not pay for it.
      if (connection->serves && *connection->alive) AwaitReadable(connection);
    }
    for (const ConnectionPtr& connection : late) {
      const bool asks = connection->state == State::kHead || connection->state == State::kBody;
      asks ? Refuse(connection, 408, "the request did not come to its end in time")
           : Close(connection);
    }
  }

  // ---- the end ----------------------------------------------------------------------------------

  void CloseWhatIsIdle() {
    // A client that connected before the stop may have asked already.
    for (Error error; !error;) {
      tcp::socket socket(io_);
      acceptor_.accept(socket, error);
      if (!error) Take(std::move(socket));
    }
    Error ignored;
    acceptor_.close(ignored);
    accept_again_.cancel();
    const Time now = Clock::now();
    const std::vector<ConnectionPtr> all(connections_.begin(), connections_.end());
    for (const ConnectionPtr& connection : all) {
      HurryUp(*connection, now);
      if (connection->state == State::kIdle) CloseIfNothingCame(connection);
    }
    EndIfAllAreGone();
  }

  void CloseIfNothingCame(const ConnectionPtr& connection) {
    if (!connection->in.empty()) return Read(connection);
    if (Peek(*connection) <= 0) return Close(connection);
    Receive(connection);
  }

  void EndIfAllAreGone() {
    if (!stopping_ || acceptor_.is_open() || !connections_.empty()) return;
    Error ignored;
    timer_.cancel(ignored);
    work_.reset();
  }

  Service& service_;
  const Limits limits_;
  const Clock::duration tick_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  tcp::acceptor acceptor_{io_};
  asio::steady_timer timer_{io_};
  asio::steady_timer accept_again_{io_};
  uint16_t port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> stopped_ = false;
  std::atomic<int> answering_ = 0;
  std::mutex leading_;
  // Below: for the thread that leads.
  std::deque<Ready> ready_;  // requests that are whole
  bool ended_ = false;
  std::vector<char> scratch_;  // so that a connection needs no buffer of its own to read into
  std::unordered_set<ConnectionPtr> connections_;
  std::list<Connection*> idle_;  // the one that has been idle for the longest first
  size_t serving_ = 0;           // requests
  size_t left_ = 0;              // those whose clients have closed their side
  size_t clients_ = 0;
  size_t turned_away_ = 0;
  bool ticking_ = false;

  std::vector<std::thread> threads_;
};

Server::Server(const std::string& host, uint16_t port, const Limits& limits, Service& service)
    : impl_(std::make_unique<Impl>(host, port, limits, service)) {}

Server::~Server() = default;

uint16_t Server::port() const { return impl_->port(); }
void Server::Stop() { impl_->Stop(); }
bool Server::stopped() const { return impl_->stopped(); }

}  // namespace fanline::http
