#pragma once

#include "base/recent.h"
#include "harness/serve/exchange.h"
#include "store/board/board.h"
#include "store/run_store.h"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace winnow::harness {

/// The pages of a store, made anew when the store has changed. A thread of its own makes them, one
/// after the other, because a large one takes seconds, and memory for several of its kind. All
/// functions run on the server's thread.
class BoardPages {
public:
  static constexpr std::size_t kMostKept = 4; ///< pages; each has BoardOptions::max_bytes at most

  /// `post` runs a function on the server's thread. Throws as RunStore does.
  BoardPages(const std::filesystem::path& store, store::BoardOptions options,
             std::function<void(std::function<void()>)> post);
  ~BoardPages();
  BoardPages(const BoardPages&) = delete; // owns a thread
  BoardPages& operator=(const BoardPages&) = delete;

  /// Changes when the store does, and when the server starts.
  std::string version();
  /// Answers with the page as soon as it is made. The page is at least as new as this call, and
  /// shows only what this owner has sent; empty: all.
  void answer(std::shared_ptr<Exchange> exchange, const std::string& owner = {});
  /// Answers what waits: the server stops.
  void end();

private:
  struct Waiting {
    std::shared_ptr<Exchange> exchange;
    std::string version; ///< of the store at the time of the request
  };
  using Page = std::shared_ptr<const std::string>; // many connections send it
  struct Wanted {
    std::string owner, version;
  };

  void make_pages();
  Page make(const Wanted& wanted);
  void take(const Wanted& wanted, const Page& page);

  store::RunStore watched_; ///< only for version()
  std::string start_;       ///< tells this server from the one before
  store::RunStore all_;     ///< only for the thread, as `own_`
  store::RunStore own_;     ///< shows one owner's work
  store::BoardOptions options_;
  std::function<void(std::function<void()>)> post_;
  Recent<std::string, std::pair<std::string, Page>> made_{kMostKept}; ///< with versions, by owner
  std::map<std::string, std::vector<Waiting>> waiting_; ///< by owner; the oldest request first

  std::mutex mutex_; ///< guards the members below
  std::condition_variable changed_;
  std::deque<Wanted> wanted_; ///< that the thread makes next; one of an owner
  bool ending_ = false;

  std::thread thread_; ///< last, because it uses the other members
};

} // namespace winnow::harness
