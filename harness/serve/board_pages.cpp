#include "harness/serve/board_pages.h"

#include "base/random_bits.h"
#include "store/database.h"

#include <algorithm>
#include <exception>
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
  if (const Made* made = made_.find(owner); made != nullptr && made->version == now) {
    exchange->reply(page_reply(made->page));
    return;
  }
  waiting_.push_back({std::move(exchange), owner, now});
  want(owner, now);
}

void BoardPages::want(const std::string& owner, const std::string& version) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = std::find_if(wanted_.begin(), wanted_.end(),
                                    [&](const Wanted& one) { return one.owner == owner; });
    if (known == wanted_.end()) {
      wanted_.push_back({owner, version});
    } else {
      known->version = version;
    }
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
    Wanted wanted = std::move(wanted_.front());
    wanted_.pop_front();
    lock.unlock();
    Made made = make(wanted);
    post_([this, wanted = std::move(wanted), made = std::move(made)] { take(wanted, made); });
    lock.lock();
  }
}

/// Without a page if it cannot be made.
BoardPages::Made BoardPages::make(const Wanted& wanted) {
  store::BoardOptions options = options_;
  options.live_version = wanted.version;
  store::RunStore& store = wanted.owner.empty() ? all_ : own_;
  try {
    if (!wanted.owner.empty()) {
      store.show_only(wanted.owner);
    }
    return {std::make_shared<const std::string>(store::board_page(store, options)), wanted.version};
  } catch (const std::exception& error) {
    spdlog::error("serve: the page: {}", error.what());
    return {};
  }
}

void BoardPages::take(const Wanted& wanted, const Made& made) {
  made_.erase(wanted.owner);
  if (made.page) {
    made_.put(wanted.owner, made);
  }
  for (const Waiting& waiting : waiting_for(wanted)) {
    waiting.exchange->reply(made.page ? page_reply(made.page)
                                      : HttpReply{503, kNoPage, "application/json", 1});
  }
}

/// Takes the requests that a page of this version answers. Later requests asked for a newer one.
std::vector<BoardPages::Waiting> BoardPages::waiting_for(const Wanted& wanted) {
  std::vector<Waiting> answered;
  const auto is_answered = [&](const Waiting& one) { return one.owner == wanted.owner; };
  const auto newest = std::find_if(waiting_.rbegin(), waiting_.rend(), [&](const Waiting& one) {
    return is_answered(one) && one.version == wanted.version;
  });
  for (auto one = waiting_.begin(); one != newest.base();) {
    if (is_answered(*one)) {
      answered.push_back(std::move(*one));
      one = waiting_.erase(one);
    } else {
      ++one;
    }
  }
  return answered;
}

} // namespace winnow::harness
