#include "agents/http/transfer.h"

#include "agents/http/url.h"
#include "base/error.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

namespace winnow::agents {
namespace {

using std::chrono::milliseconds;

void check(CURLcode code, const char* call) {
  if (code != CURLE_OK) {
    throw Error(fmt::format("{}: {}", call, libcurl().easy_strerror(code)));
  }
}

bool take_bytes(Transfer& transfer, std::string_view bytes) {
  transfer.body_bytes += bytes.size();
  if (transfer.body_bytes > transfer.options->max_body_bytes) {
    return false;
  }
  long status = 0;
  libcurl().easy_getinfo(transfer.easy.get(), CURLINFO_RESPONSE_CODE, &status);
  if (!transfer.streamed() || status < 200 || status > 299) {
    transfer.result.body.append(bytes);
  } else if (transfer.request.on_bytes(bytes) && !transfer.first_token) {
    transfer.first_token = transfer.last_byte;
  }
  return true;
}

std::size_t on_body(char* bytes, std::size_t, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  transfer.last_byte = Transfer::Clock::now();
  try {
    if (take_bytes(transfer, {bytes, count})) {
      return count;
    }
  } catch (const std::bad_alloc&) { // no exception may pass through curl
  }
  transfer.result.end = HttpResult::End::TooLarge;
  return 0; // tells curl to end the transfer
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
  transfer.last_byte = Transfer::Clock::now();
  const std::string_view line(bytes, count);
  try {
    if (line.substr(0, 5) == "HTTP/") {
      transfer.result.headers.clear(); // headers so far came from "100 Continue" or from a proxy
    } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
      transfer.result.headers[lower_trimmed(line.substr(0, colon), true)] =
          lower_trimmed(line.substr(colon + 1), false);
    }
  } catch (const std::bad_alloc&) {
    return 0;
  }
  return count;
}

void configure_timeouts(CURL* easy, const HttpOptions& options) {
  const auto set = [easy](CURLoption option, milliseconds value) {
    check(libcurl().easy_setopt(easy, option, static_cast<long>(value.count())),
          "curl_easy_setopt");
  };
  set(CURLOPT_CONNECTTIMEOUT_MS, options.connect_timeout);
  set(CURLOPT_TIMEOUT_MS, options.total_timeout);
}

void configure_network(CURL* easy, const HttpRequest& request, const HttpOptions& options) {
  const auto set = [easy](CURLoption option, auto value) {
    check(libcurl().easy_setopt(easy, option, value), "curl_easy_setopt");
  };
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  const auto url = parse_url(request.url);
  if (!options.proxy.empty()) {
    set(CURLOPT_PROXY, options.proxy.c_str());
  } else if (url && is_loopback(url->host)) {
    set(CURLOPT_PROXY, ""); // for a proxy, localhost is the proxy's own machine
  }
  if (!options.ca_file.empty()) {
    set(CURLOPT_CAINFO, options.ca_file.c_str());
  }
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  if (url && url->scheme == "https") { // share one HTTP/2 connection instead of opening hundreds
    set(CURLOPT_PIPEWAIT, 1L);         // without TLS, curl would wait for the first answer
  }
}

void configure(Transfer& transfer) {
  CURL* easy = transfer.easy.get();
  const auto set = [easy](CURLoption option, auto value) {
    check(libcurl().easy_setopt(easy, option, value), "curl_easy_setopt");
  };
  set(CURLOPT_URL, transfer.request.url.c_str());
  set(CURLOPT_POST, 1L);
  // Not copied: the body lives as long as the transfer.
  set(CURLOPT_POSTFIELDS, transfer.request.body.data());
  set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(transfer.request.body.size()));
  curl_slist* list = libcurl().slist_append(nullptr, "Expect:");
  for (const std::string& header : transfer.request.headers) {
    list = libcurl().slist_append(list, header.c_str());
  }
  transfer.headers.reset(list);
  set(CURLOPT_HTTPHEADER, list);
  set(CURLOPT_USERAGENT, "winnow");
  set(CURLOPT_ACCEPT_ENCODING, "");
  set(CURLOPT_ERRORBUFFER, transfer.error.data());
  set(CURLOPT_WRITEFUNCTION, &on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
  set(CURLOPT_HEADERFUNCTION, &on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
  configure_network(easy, transfer.request, *transfer.options);
  configure_timeouts(easy, *transfer.options);
}

bool certificate_fails(CURLcode code) {
  return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
         code == CURLE_SSL_ISSUER_ERROR || code == CURLE_SSL_INVALIDCERTSTATUS;
}

} // namespace

Transfer::Clock::time_point Transfer::deadline() const {
  // Headers or a ping do not show that the model has begun to answer.
  if (streamed() && !first_token) {
    return started + options->first_token_timeout;
  }
  return last_byte ? *last_byte + options->stall_timeout : Clock::time_point::max();
}

bool Transfer::is_sent() const {
  curl_off_t bytes = 0;
  if (easy) {
    libcurl().easy_getinfo(easy.get(), CURLINFO_SIZE_UPLOAD_T, &bytes);
  }
  return bytes > 0;
}

void Transfer::begin(const HttpOptions& chosen) {
  options = &chosen;
  error.front() = '\0';
  result = {};
  result.attempt = ++attempt;
  body_bytes = 0;
  last_byte.reset();
  first_token.reset();
  started = Clock::now();
  easy.reset(libcurl().easy_init());
  if (!easy) {
    throw Error("curl_easy_init failed: out of memory");
  }
  configure(*this);
}

HttpResult Transfer::end(CURLcode code) {
  const auto since_start = [&](Clock::time_point time) {
    return std::chrono::duration<double>(time - started).count();
  };
  result.seconds = since_start(Clock::now());
  if (first_token) {
    result.first_token_seconds = since_start(*first_token);
  }
  if (easy) {
    libcurl().easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &result.status);
  }
  result.sent = is_sent();
  if (code == CURLE_OK) {
    result.end = HttpResult::End::Answered;
  } else if (result.end != HttpResult::End::TooLarge && result.error.empty()) {
    result.error =
        without_users(error.front() == '\0' ? libcurl().easy_strerror(code) : error.data());
    result.trusted = !certificate_fails(code);
  }
  easy.reset();
  headers.reset();
  return std::move(result);
}

} // namespace winnow::agents
