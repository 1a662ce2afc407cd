#include "harness/serve/board_pages.h"

#include "base/random_bits.h"
#include "store/database.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace winnow::harness {
namespace {

constexpr const char* kNoPage = // the reason may name files
    "{\"error\":\"the page cannot be made; the server's log says why\"}\n";

HttpReply page_reply(std::shared_ptr<const std::string> page) {
  HttpReply reply{200, "", "text/html; charset=utf-8"};
  reply.page = std::move(page);
  return reply;
}

} // namespace

BoardPages::BoardPages(const std::filesystem::path& store, store::BoardOptions options,
                       std::function<void(std::function<void()>)> post, std::string owner)
    : watched_(store, store::OpenMode::ReadOnly), start_(fmt::format("{:x}", random_bits())),
      store_(store, store::OpenMode::ReadOnly), options_(std::move(options)),
      owner_(std::move(owner)), post_(std::move(post)), thread_([this] { make_pages(); }) {}

BoardPages::~BoardPages() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::string BoardPages::version() {
  std::int64_t version = 0;
  watched_.read([&](const store::Database& database) {
    // SQLite changes this number of a connection when another connection has committed.
    store::Query query(database, "PRAGMA data_version");
    version = query.next() ? query.integer("data_version") : 0;
  });
  return fmt::format("{}-{}", start_, version);
}

void BoardPages::answer(std::shared_ptr<Exchange> exchange) {
  const std::string now = version();
  if (page_version_ == now) {
    exchange->reply(page_reply(page_));
    return;
  }
  waiting_.push_back({std::move(exchange), now});
  {
    const std::lock_guard lock(mutex_);
    wanted_ = now;
  }
  changed_.notify_all();
}

void BoardPages::end() {
  for (const Waiting& waiting : std::exchange(waiting_, {})) {
    waiting.exchange->reply({503, "{\"error\":\"the server stops\"}\n"});
  }
}

void BoardPages::make_pages() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !wanted_.empty(); });
    if (ending_) {
      return;
    }
    store::BoardOptions options = options_;
    options.live_version = std::exchange(wanted_, "");
    lock.unlock();
    Page page;
    std::string error;
    try {
      if (!owner_.empty()) {
        store_.show_only(owner_);
      }
      page = std::make_shared<const std::string>(store::board_page(store_, options));
    } catch (const std::exception& failure) {
      error = failure.what();
    }
    post_([this, version = options.live_version, page = std::move(page), error = std::move(error)] {
      take(version, page, error);
    });
    lock.lock();
  }
}

void BoardPages::take(const std::string& version, Page page, const std::string& error) {
  if (error.empty()) {
    page_ = std::move(page);
    page_version_ = version;
  }
  if (!error.empty()) {
    spdlog::error("serve: the page: {}", error);
  }
  for (const Waiting& waiting : waiting_for(version)) {
    waiting.exchange->reply(error.empty() ? page_reply(page_)
                                          : HttpReply{503, kNoPage, "application/json", 1});
  }
}

/// Takes the requests that a page of this version answers. Later requests asked for a newer one.
std::vector<BoardPages::Waiting> BoardPages::waiting_for(const std::string& version) {
  const auto newer = std::find_if(waiting_.rbegin(), waiting_.rend(), [&](const Waiting& one) {
                       return one.version == version;
                     }).base();
  std::vector<Waiting> answered(std::move_iterator(waiting_.begin()), std::move_iterator(newer));
  waiting_.erase(waiting_.begin(), newer);
  return answered;
}

} // namespace winnow::harness
