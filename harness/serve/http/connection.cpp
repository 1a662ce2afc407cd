#include "harness/serve/http/connection.h"

#include "harness/serve/exchange.h"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

namespace winnow::harness {
namespace {

using boost::system::error_code;
using std::chrono::steady_clock;

constexpr std::size_t kHeadPiece = 4096, kBodyPiece = 65536;
constexpr std::size_t kMostDrained = std::size_t{1} << 20U;
constexpr std::string_view kHeadEnd = "\r\n\r\n";

std::size_t piece_of(bool is_body) {
  return is_body ? kBodyPiece : kHeadPiece;
}

} // namespace

Connection::Connection(ServerState& state, Socket socket)
    : state_(state), socket_(std::move(socket)),
      deadline_(steady_clock::now() + state.limits.stranger_time) {}

Connection::~Connection() {
  close();
}

void Connection::begin() {
  state_.add_stranger(*this);
  read_head();
}

void Connection::close() {
  if (!alive_.exchange(false)) {
    return;
  }
  waits_ = false;
  drop_body();
  state_.remove(*this);
  drop_answer();
  error_code ignored;
  socket_.close(ignored);
}

void Connection::allow(std::chrono::milliseconds time) {
  if (is_admitted()) {
    deadline_ = steady_clock::now() + time;
  }
}

void Connection::read_some(Read what) {
  const std::size_t before = in_.size(), size = piece_of(what == Read::Body);
  in_.resize(before + size);
  socket_.async_read_some(
      boost::asio::buffer(in_.data() + before, size),
      [self = shared_from_this(), what, before](error_code error, std::size_t read) {
        self->in_.resize(before + read);
        if (error) {
          self->close();
        } else if (self->alive_) {
          self->on_read(what);
        }
      });
}

void Connection::on_read(Read what) {
  switch (what) {
  case Read::Head:
    read_head();
    break;
  case Read::Body:
    read_body();
    break;
  case Read::Rest: // closing with unread bytes would take the answer away from the client
    drained_ += in_.size();
    in_.clear();
    drained_ > kMostDrained ? close() : read_some(Read::Rest);
    break;
  }
}

void Connection::read_head() {
  const std::size_t end = in_.find(kHeadEnd, scanned_);
  const std::size_t size = end == std::string::npos ? in_.size() : end + kHeadEnd.size();
  if (size > state_.limits.header_bytes) {
    refuse(431, fmt::format("the header has more than {} bytes", state_.limits.header_bytes));
  } else if (end == std::string::npos) {
    scanned_ = in_.size() - std::min(in_.size(), kHeadEnd.size() - 1);
    read_some(Read::Head);
  } else {
    const std::string text = in_.substr(0, size);
    in_.erase(0, size);
    scanned_ = 0;
    take_head(text);
  }
}

void Connection::take_head(std::string_view text) {
  auto parsed = parse_request_head(text);
  if (const HeadProblem* problem = std::get_if<HeadProblem>(&parsed)) {
    refuse(problem->status, problem->error);
    return;
  }
  head_ = std::get<RequestHead>(std::move(parsed));
  keep_alive_ = head_.keep_alive;
  is_head_ = head_.request.method == "HEAD";
  if (is_head_) {
    head_.request.method = "GET";
  }
  Admission admission = state_.application.admit(head_.request);
  if (admission.reply) {
    answer_head(*std::move(admission.reply));
  } else if (!state_.admit(*this, admission.owner)) {
    refuse(503, "too many connections", 1);
  } else {
    begin_body();
  }
}

void Connection::answer_head(HttpReply reply) {
  keep_alive_ = keep_alive_ && is_admitted() && head_.body_end == BodyEnd::None;
  send(std::move(reply));
}

void Connection::begin_body() {
  body_.emplace(head_, state_.limits.body);
  const std::size_t bytes = head_.body_end == BodyEnd::None     ? 0
                            : head_.body_end == BodyEnd::Length ? head_.length
                                                                : state_.limits.body.body_bytes;
  if (body_->state() == BodyReader::State::TooLong) {
    refuse_body();
    return;
  }
  std::optional<BodyReservation> reservation = state_.reserve_body(owner(), bytes);
  if (!reservation) {
    refuse(503, "the server is reading too many bodies; send again", 1);
    return;
  }
  reservation_ = *std::move(reservation);
  allow(state_.limits.body_time);
  if (head_.expects_continue && bytes > 0) {
    push(std::string("HTTP/1.1 100 Continue\r\n\r\n"));
    write();
  }
  read_body();
}

void Connection::read_body() {
  std::string_view bytes = in_;
  const BodyReader::State state = body_->take(bytes);
  in_.erase(0, in_.size() - bytes.size());
  switch (state) {
  case BodyReader::State::More:
    read_some(Read::Body);
    break;
  case BodyReader::State::Done:
    hand_over();
    break;
  default:
    refuse_body();
  }
}

void Connection::refuse_body() {
  const BodyLimits& limits = state_.limits.body;
  switch (body_->state()) {
  case BodyReader::State::TooLong:
    refuse(413,
           fmt::format("the body has more than {} bytes; send fewer items", limits.body_bytes));
    break;
  case BodyReader::State::TooMuchAround:
    refuse(431, fmt::format("the chunks have extensions of more than {} bytes, or trailers of more "
                            "than {}",
                            limits.extension_bytes, limits.trailer_bytes));
    break;
  default:
    refuse(400, "the chunks of the body are malformed");
  }
}

void Connection::hand_over() {
  HttpRequest request = std::move(head_.request);
  request.body = std::move(body_->body());
  body_.reset();
  if (in_.empty()) {
    in_ = {}; // a held connection keeps no memory for reading
  }
  waits_ = true;
  is_early_ = !in_.empty();
  deadline_ = Time::max(); // the application bounds the wait
  watch();
  state_.queue.push(owner(), {make_exchange(shared_from_this(), std::move(request)),
                              std::exchange(reservation_, {})});
}

/// A body that was not handed over.
void Connection::drop_body() {
  body_.reset();
  reservation_ = {};
}

/// Notices that the client goes while its request waits. One watch serves all requests of a
/// connection, because a client may send many without a byte between them that ends a watch.
void Connection::watch() {
  if (std::exchange(watches_, true)) {
    return;
  }
  socket_.async_wait(Socket::wait_read, [weak = weak_from_this()](error_code error) {
    const auto self = weak.lock();
    if (!self) {
      return;
    }
    self->watches_ = false;
    if (self->waits_ && !error) {
      self->look();
    }
  });
}

/// Whether there are bytes, or the end. Never waits: the watch may have seen an earlier request.
void Connection::look() {
  char byte = 0;
  const ssize_t seen = recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (seen > 0) { // the next request has come early, and hides the end of the connection
    is_early_ = true;
  } else if (seen < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    watch();
  } else {
    close();
  }
}

bool Connection::has_gone() {
  pollfd ended{socket_.native_handle(), POLLRDHUP, 0};
  return waits_ && is_early_ && poll(&ended, 1, 0) > 0;
}

} // namespace winnow::harness
