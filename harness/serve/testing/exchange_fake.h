#pragma once

#include "harness/serve/exchange.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace winnow::harness::test {

/// Keeps what it is answered with.
class ExchangeFake : public Exchange {
public:
  ExchangeFake(std::string method, std::string target, std::string body = {}) {
    request_.method = std::move(method);
    request_.target = std::move(target);
    request_.body = std::move(body);
  }
  const HttpRequest& request() const override { return request_; }
  std::string take_body() override { return std::exchange(request_.body, {}); }
  bool is_open() const override { return !is_gone && !reply_ && !has_ended; }
  void reply(HttpReply reply) override {
    if (is_open()) {
      reply_ = std::move(reply);
    }
  }
  void begin_lines() override { has_begun = true; }
  void add_line(std::string line) override { lines.push_back(std::move(line)); }
  void end_lines() override { has_ended = true; }

  void authorize(const std::string& field) { request_.authorization = field; }
  const std::optional<HttpReply>& answer() const { return reply_; }

  bool is_gone = false; ///< the client has closed its connection
  bool has_begun = false, has_ended = false;
  std::vector<std::string> lines;

private:
  HttpRequest request_;
  std::optional<HttpReply> reply_;
};

} // namespace winnow::harness::test
