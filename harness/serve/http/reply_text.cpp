#include "harness/serve/http/reply_text.h"

#include <string_view>

#include <boost/beast/http/status.hpp>
#include <fmt/format.h>

namespace winnow::harness {

HttpReply failure(int status, const std::string& error, int retry_after_s) {
  return {status, fmt::format("{{\"error\":\"{}\"}}\n", error), "application/json", retry_after_s};
}

std::string head_of(const HttpReply& reply, const std::string& length, bool keep_alive) {
  const auto status = static_cast<boost::beast::http::status>(reply.status);
  const auto reason = boost::beast::http::obsolete_reason(status);
  std::string head =
      fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\n{}\r\nCache-Control: no-store\r\n"
                  "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
                  "Content-Security-Policy: frame-ancestors 'none'\r\nConnection: {}\r\n",
                  reply.status, std::string_view(reason.data(), reason.size()), reply.type, length,
                  keep_alive ? "keep-alive" : "close");
  if (reply.retry_after_s > 0) {
    head += fmt::format("Retry-After: {}\r\n", reply.retry_after_s);
  }
  if (reply.asks_for_password) {
    head += "WWW-Authenticate: Basic realm=\"winnow\", charset=\"UTF-8\"\r\n";
  }
  return head + "\r\n";
}

} // namespace winnow::harness
