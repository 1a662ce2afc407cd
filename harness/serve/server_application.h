#pragma once

#include "harness/serve/access.h"
#include "harness/serve/board_pages.h"
#include "harness/serve/exchange.h"

#include <memory>
#include <optional>
#include <string>

namespace winnow::harness {

class JudgeRoutes;

/// Lets requests in, and gives each to the part of the server that answers it.
class ServerApplication : public HttpApplication {
public:
  /// `judge`: nullptr for a server of the board alone. `is_local`: the server listens on loopback
  /// without a token, so a web page in a browser of this machine could reach it.
  ServerApplication(const Access& access, bool is_local, BoardPages& board, JudgeRoutes* judge)
      : access_(access), is_local_(is_local), board_(board), judge_(judge) {}

  std::optional<HttpReply> refuse(const HttpRequest& head) override;
  void handle(std::shared_ptr<Exchange> exchange) override;
  void tick() override;
  void end() override;

private:
  void route(const std::shared_ptr<Exchange>& exchange);

  const Access& access_;
  bool is_local_;
  BoardPages& board_;
  JudgeRoutes* judge_;
};

/// {"error": "...", "remedy": "..."}; without the remedy if it is empty.
HttpReply error_reply(int status, const std::string& error, const std::string& remedy = {});

} // namespace winnow::harness
