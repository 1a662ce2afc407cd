#pragma once

#include "harness/serve/exchange.h"
#include "store/board/board.h"
#include "store/run_store.h"

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace winnow::harness {

/// The page of a store, made anew when the store has changed. A thread of its own makes the pages,
/// because a large one takes seconds. All functions run on the server's thread.
class BoardPages {
public:
  /// `post` runs a function on the server's thread. `owner`: the page shows only what this owner
  /// has sent; empty: all. Throws as RunStore does.
  BoardPages(const std::filesystem::path& store, store::BoardOptions options,
             std::function<void(std::function<void()>)> post, std::string owner = {});
  ~BoardPages();
  BoardPages(const BoardPages&) = delete; // owns a thread
  BoardPages& operator=(const BoardPages&) = delete;

  /// Changes when the store does, and when the server starts.
  std::string version();
  /// Answers with the page as soon as it is made. The page is at least as new as this call.
  void answer(std::shared_ptr<Exchange> exchange);
  /// Answers what waits: the server stops.
  void end();

private:
  struct Waiting {
    std::shared_ptr<Exchange> exchange;
    std::string version; ///< of the store at the time of the request
  };

  using Page = std::shared_ptr<const std::string>; // many connections send it

  void make_pages();
  void take(const std::string& version, Page page, const std::string& error);
  std::vector<Waiting> waiting_for(const std::string& version);

  store::RunStore watched_; ///< only for version()
  std::string start_;       ///< tells this server from the one before
  store::RunStore store_;   ///< only for the thread
  store::BoardOptions options_;
  std::string owner_;
  std::function<void(std::function<void()>)> post_;
  Page page_;
  std::string page_version_;
  std::vector<Waiting> waiting_; ///< oldest first

  std::mutex mutex_; ///< guards the members below
  std::condition_variable changed_;
  std::string wanted_; ///< the version that the thread makes next; empty: none
  bool ending_ = false;

  std::thread thread_; ///< last, because it uses the other members
};

} // namespace winnow::harness
