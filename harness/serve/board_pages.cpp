#include "harness/serve/board_pages.h"

#include "base/freed_memory.h"
#include "base/random_bits.h"
#include "store/database.h"

#include <algorithm>
#include <exception>

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
                       std::function<void(std::function<void()>)> post)
    : watched_(store, store::OpenMode::ReadOnly), start_(fmt::format("{:x}", random_bits())),
      all_(store, store::OpenMode::ReadOnly), own_(store, store::OpenMode::ReadOnly),
      options_(std::move(options)), post_(std::move(post)), thread_([this] { make_pages(); }) {}

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

void BoardPages::answer(std::shared_ptr<Exchange> exchange, const std::string& owner) {
  const std::string now = version();
  if (const auto* made = made_.find(owner); made != nullptr && made->first == now) {
    exchange->reply(page_reply(made->second));
    return;
  }
  waiting_[owner].push_back({std::move(exchange), now});
  {
    const std::lock_guard lock(mutex_);
    const auto known = std::find_if(wanted_.begin(), wanted_.end(),
                                    [&](const Wanted& one) { return one.owner == owner; });
    (known == wanted_.end() ? wanted_.emplace_back(Wanted{owner, ""}) : *known).version = now;
  }
  changed_.notify_all();
}

void BoardPages::end() {
  for (const auto& [owner, requests] : std::exchange(waiting_, {})) {
    for (const Waiting& waiting : requests) {
      waiting.exchange->reply({503, "{\"error\":\"the server stops\"}\n"});
    }
  }
}

void BoardPages::make_pages() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !wanted_.empty(); });
    if (ending_) {
      return;
    }
    const Wanted wanted = std::move(wanted_.front());
    wanted_.pop_front();
    lock.unlock();
    post_([this, wanted, page = make(wanted)] { take(wanted, page); });
    trim_freed_memory(); // making a page takes several times its size
    lock.lock();
  }
}

/// nullptr: the page cannot be made.
BoardPages::Page BoardPages::make(const Wanted& wanted) {
  store::BoardOptions options = options_;
  options.live_version = wanted.version;
  store::RunStore& store = wanted.owner.empty() ? all_ : own_;
  try {
    if (!wanted.owner.empty()) {
      store.show_only(wanted.owner);
    }
    return std::make_shared<const std::string>(store::board_page(store, options));
  } catch (const std::exception& error) {
    spdlog::error("serve: the page: {}", error.what());
    return nullptr;
  }
}

void BoardPages::take(const Wanted& wanted, const Page& page) {
  made_.erase(wanted.owner);
  if (page) {
    made_.put(wanted.owner, {wanted.version, page});
  }
  std::vector<Waiting>& waiting = waiting_[wanted.owner];
  // Requests after the last one of this version asked for a newer page.
  const auto newer = std::find_if(waiting.rbegin(), waiting.rend(), [&](const Waiting& one) {
                       return one.version == wanted.version;
                     }).base();
  std::for_each(waiting.begin(), newer, [&](const Waiting& one) {
    one.exchange->reply(page ? page_reply(page) : HttpReply{503, kNoPage, "application/json", 1});
  });
  waiting.erase(waiting.begin(), newer);
}

} // namespace winnow::harness
