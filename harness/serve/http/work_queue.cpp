#include "harness/serve/http/work_queue.h"

#include <boost/asio/post.hpp>

namespace winnow::harness {

WorkQueue::WorkQueue(boost::asio::io_context& work, std::function<void(Request)> handle)
    : work_(work), handle_(std::move(handle)) {}

void WorkQueue::push(Work own_work) {
  const std::lock_guard lock(mutex_);
  own_work_.push_back(std::move(own_work));
  begin();
}

void WorkQueue::push(const std::string& owner, Request request) {
  const std::lock_guard lock(mutex_);
  pieces_[owner].push_back({std::move(request)});
  begin();
}

void WorkQueue::push(const std::string& owner, Work work, Turn turn) {
  const std::lock_guard lock(mutex_);
  std::deque<Piece>& pieces = pieces_[owner];
  pieces.insert(turn == Turn::Next ? pieces.begin() : pieces.end(), {{}, std::move(work)});
  begin();
}

/// One piece is posted at a time, so that timers and the end of the server do not wait for all.
void WorkQueue::begin() {
  if (!std::exchange(has_begun_, true)) {
    boost::asio::post(work_, [this] { work_once(); });
  }
}

WorkQueue::Piece WorkQueue::pop_piece() {
  auto next = pieces_.upper_bound(last_);
  next = next == pieces_.end() ? pieces_.begin() : next;
  last_ = next->first;
  Piece piece = std::move(next->second.front());
  next->second.pop_front();
  if (next->second.empty()) {
    pieces_.erase(next);
  }
  return piece;
}

void WorkQueue::work_once() {
  std::unique_lock lock(mutex_);
  was_own_ = !own_work_.empty() && (pieces_.empty() || !was_own_);
  if (was_own_) {
    const Work one = std::move(own_work_.front());
    own_work_.pop_front();
    lock.unlock();
    one();
  } else {
    Piece piece = pop_piece();
    lock.unlock();
    piece.work ? piece.work() : handle_(std::move(piece.request));
  }
  lock.lock();
  has_begun_ = false;
  if (!own_work_.empty() || !pieces_.empty()) {
    begin();
  }
}

} // namespace winnow::harness
