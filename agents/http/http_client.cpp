#include "agents/http/http_client.h"

#include "agents/http/url.h"
#include "base/error.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include <curl/curl.h>
#include <fmt/format.h>

namespace winnow::agents {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kMaxPoll{1000};

void check(CURLcode code, const char* call) {
  if (code != CURLE_OK) {
    throw Error(fmt::format("{}: {}", call, curl_easy_strerror(code)));
  }
}

struct EasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
struct MultiDeleter {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};

/// A request on its way: waiting, between two attempts, or in flight. Its address is curl's.
struct Transfer {
  HttpRequest request;
  HttpClient::OnResult on_result;
  int attempt = 0;
  bool cancelled = false; ///< before the client's thread took it over
  Clock::time_point not_before{};
  // of the attempt in flight:
  std::unique_ptr<CURL, EasyDeleter> easy;
  std::unique_ptr<curl_slist, ListDeleter> headers;
  std::array<char, CURL_ERROR_SIZE> error{};
  HttpResult result;
  std::size_t max_body_bytes = 0;
  Clock::time_point started{};
  std::optional<Clock::time_point> last_byte; ///< of the answer
};
using TransferPointer = std::unique_ptr<Transfer>;

std::size_t on_body(char* bytes, std::size_t, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  transfer.last_byte = Clock::now();
  if (transfer.result.body.size() + count > transfer.max_body_bytes) {
    transfer.result.end = HttpResult::End::TooLarge;
    return 0; // ends the transfer
  }
  try {
    transfer.result.body.append(bytes, count);
  } catch (const std::bad_alloc&) { // no exception may cross curl
    transfer.result.end = HttpResult::End::TooLarge;
    return 0;
  }
  return count;
}

std::string lower_trimmed(std::string_view text, bool lower) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kSpace), text.size());
  std::string out(text.substr(begin, text.find_last_not_of(kSpace) - begin + 1));
  if (lower) {
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  }
  return out;
}

std::size_t on_header(char* bytes, std::size_t, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  transfer.last_byte = Clock::now();
  const std::string_view line(bytes, count);
  try {
    if (line.substr(0, 5) == "HTTP/") {
      transfer.result.headers.clear(); // those of "100 Continue" or of a proxy are not the answer's
    } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
      transfer.result.headers[lower_trimmed(line.substr(0, colon), true)] =
          lower_trimmed(line.substr(colon + 1), false);
    }
  } catch (const std::bad_alloc&) {
    return 0;
  }
  return count;
}

void initialise_curl() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  check(code, "curl_global_init");
}

} // namespace

struct HttpClient::State {
  explicit State(const HttpLimits& chosen) : limits(chosen), multi(curl_multi_init()) {
    if (!multi) {
      throw Error("curl_multi_init failed: out of memory");
    }
    thread = std::thread([this] { run(); });
  }

  void run();
  void accept(std::vector<TransferPointer>& cancelled);
  void begin_due();
  void begin(TransferPointer transfer);
  void configure(Transfer& transfer);
  void collect_finished();
  void fail_stalled();
  void finish(std::size_t index, CURLcode code);
  void report(TransferPointer transfer);
  std::chrono::milliseconds time_to_next() const;

  const HttpLimits limits;
  std::unique_ptr<CURLM, MultiDeleter> multi;

  std::mutex mutex; ///< guards the next three
  std::vector<TransferPointer> posted;
  bool cancelling = false;
  bool stopping = false;

  // The thread's own:
  std::deque<TransferPointer> waiting; ///< not yet sent, or between two attempts
  std::vector<TransferPointer> in_flight;
  bool done = false;
  std::thread thread;
};

void HttpClient::State::configure(Transfer& transfer) {
  CURL* easy = transfer.easy.get();
  const auto set = [easy](CURLoption option, auto value) {
    check(curl_easy_setopt(easy, option, value), "curl_easy_setopt");
  };
  set(CURLOPT_URL, transfer.request.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  if (const auto url = parse_url(transfer.request.url); url && is_loopback(url->host)) {
    set(CURLOPT_PROXY, ""); // a proxy's localhost is another machine
  }
  set(CURLOPT_POST, 1L);
  set(CURLOPT_POSTFIELDS, transfer.request.body.data()); // not copied: lives in the transfer
  set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(transfer.request.body.size()));
  curl_slist* list = curl_slist_append(nullptr, "Expect:");
  for (const std::string& header : transfer.request.headers) {
    list = curl_slist_append(list, header.c_str());
  }
  transfer.headers.reset(list);
  set(CURLOPT_HTTPHEADER, list);
  set(CURLOPT_USERAGENT, "winnow");
  set(CURLOPT_ACCEPT_ENCODING, "");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits.connect_timeout.count()));
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(limits.total_timeout.count()));
  set(CURLOPT_ERRORBUFFER, transfer.error.data());
  set(CURLOPT_WRITEFUNCTION, &on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
  set(CURLOPT_HEADERFUNCTION, &on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
}

void HttpClient::State::begin(TransferPointer transfer) {
  transfer->easy.reset(curl_easy_init());
  transfer->error.front() = '\0';
  transfer->result = {};
  transfer->result.attempt = ++transfer->attempt;
  transfer->max_body_bytes = limits.max_body_bytes;
  transfer->last_byte.reset();
  transfer->started = Clock::now();
  try {
    if (!transfer->easy) {
      throw Error("curl_easy_init failed: out of memory");
    }
    configure(*transfer);
    if (const CURLMcode code = curl_multi_add_handle(multi.get(), transfer->easy.get());
        code != CURLM_OK) {
      throw Error(fmt::format("curl_multi_add_handle: {}", curl_multi_strerror(code)));
    }
  } catch (const Error& failure) { // the request's failure, not the thread's end
    transfer->result.error = failure.what();
    report(std::move(transfer));
    return;
  }
  in_flight.push_back(std::move(transfer));
}

void HttpClient::State::begin_due() {
  const auto now = Clock::now();
  for (std::size_t i = 0; i < waiting.size() && in_flight.size() < limits.parallel;) {
    if (waiting[i]->not_before > now) {
      ++i;
      continue;
    }
    TransferPointer transfer = std::move(waiting[i]);
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
    begin(std::move(transfer));
  }
}

/// Hands the result on and, if asked to, lines the request up again.
void HttpClient::State::report(TransferPointer transfer) {
  transfer->easy.reset();
  transfer->headers.reset();
  HttpResult result = std::move(transfer->result);
  result.seconds = std::chrono::duration<double>(Clock::now() - transfer->started).count();
  if (const auto delay = transfer->on_result(std::move(result))) {
    transfer->not_before = Clock::now() + *delay;
    waiting.push_back(std::move(transfer));
  }
}

void HttpClient::State::finish(std::size_t index, CURLcode code) {
  TransferPointer transfer = std::move(in_flight[index]);
  in_flight.erase(in_flight.begin() + static_cast<std::ptrdiff_t>(index));
  curl_multi_remove_handle(multi.get(), transfer->easy.get());
  HttpResult& result = transfer->result;
  curl_easy_getinfo(transfer->easy.get(), CURLINFO_RESPONSE_CODE, &result.status);
  if (code == CURLE_OK) {
    result.end = HttpResult::End::Answered;
  } else if (result.end != HttpResult::End::TooLarge && result.error.empty()) {
    const char* detail = transfer->error.data();
    result.error = *detail == '\0' ? curl_easy_strerror(code) : detail;
  }
  report(std::move(transfer));
}

void HttpClient::State::collect_finished() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi.get(), &left)) {
    const auto found =
        std::find_if(in_flight.begin(), in_flight.end(), [&](const TransferPointer& transfer) {
          return transfer->easy.get() == message->easy_handle;
        });
    if (message->msg == CURLMSG_DONE && found != in_flight.end()) {
      finish(static_cast<std::size_t>(found - in_flight.begin()), message->data.result);
    }
  }
}

// libcurl's own low-speed limit would also end a model that thinks for minutes before its first
// byte.
void HttpClient::State::fail_stalled() {
  const auto limit = Clock::now() - limits.stall_timeout;
  for (std::size_t i = in_flight.size(); i-- > 0;) {
    if (in_flight[i]->last_byte && *in_flight[i]->last_byte < limit) {
      in_flight[i]->result.error =
          fmt::format("the answer began but no byte came for {} ms", limits.stall_timeout.count());
      finish(i, CURLE_OPERATION_TIMEDOUT);
    }
  }
}

std::chrono::milliseconds HttpClient::State::time_to_next() const {
  auto next = Clock::now() + kMaxPoll;
  for (const TransferPointer& transfer : in_flight) {
    if (transfer->last_byte) {
      next = std::min(next, *transfer->last_byte + limits.stall_timeout);
    }
  }
  if (in_flight.size() < limits.parallel) {
    for (const TransferPointer& transfer : waiting) {
      next = std::min(next, transfer->not_before);
    }
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
  return std::max(left, std::chrono::milliseconds(0));
}

/// Takes over what other threads have asked for. What was posted after a cancel_all() lives on.
void HttpClient::State::accept(std::vector<TransferPointer>& cancelled) {
  std::vector<TransferPointer> fresh;
  bool cancel = false;
  {
    const std::lock_guard lock(mutex);
    fresh.swap(posted);
    cancel = std::exchange(cancelling, false);
    done = stopping;
  }
  if (cancel || done) {
    for (TransferPointer& transfer : in_flight) {
      curl_multi_remove_handle(multi.get(), transfer->easy.get());
    }
    std::move(in_flight.begin(), in_flight.end(), std::back_inserter(cancelled));
    std::move(waiting.begin(), waiting.end(), std::back_inserter(cancelled));
    in_flight.clear();
    waiting.clear();
  }
  for (TransferPointer& transfer : fresh) {
    if (done || transfer->cancelled) {
      cancelled.push_back(std::move(transfer));
    } else {
      waiting.push_back(std::move(transfer));
    }
  }
}

/// Ends when told to, once nothing is left: callbacks of cancelled requests may post further ones.
void HttpClient::State::run() {
  for (;;) {
    std::vector<TransferPointer> cancelled;
    accept(cancelled);
    for (const TransferPointer& transfer : cancelled) {
      HttpResult result;
      result.end = HttpResult::End::Cancelled;
      result.error = "cancelled";
      result.attempt = std::max(transfer->attempt, 1);
      transfer->on_result(std::move(result));
    }
    if (done && cancelled.empty()) {
      return;
    }
    begin_due();
    int running = 0;
    curl_multi_perform(multi.get(), &running);
    collect_finished();
    fail_stalled();
    begin_due();
    if (!done) {
      curl_multi_poll(multi.get(), nullptr, 0, static_cast<int>(time_to_next().count()), nullptr);
    }
  }
}

HttpClient::HttpClient(const HttpLimits& limits) {
  initialise_curl();
  state_ = std::make_unique<State>(limits);
}

HttpClient::~HttpClient() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  curl_multi_wakeup(state_->multi.get());
  state_->thread.join();
}

void HttpClient::post(HttpRequest request, OnResult on_result) {
  auto transfer = std::make_unique<Transfer>();
  transfer->request = std::move(request);
  transfer->on_result = std::move(on_result);
  {
    const std::lock_guard lock(state_->mutex);
    state_->posted.push_back(std::move(transfer));
  }
  curl_multi_wakeup(state_->multi.get());
}

void HttpClient::cancel_all() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->cancelling = true;
    for (const TransferPointer& transfer : state_->posted) {
      transfer->cancelled = true;
    }
  }
  curl_multi_wakeup(state_->multi.get());
}

} // namespace winnow::agents
