#pragma once

#include "harness/serve/access.h"
#include "harness/serve/board_pages.h"
#include "harness/serve/client_request.h"
#include "harness/serve/exchange.h"

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace winnow::harness {

class JudgeRoutes;

/// Lets requests in, and gives each to the part of the server that answers it.
class ServerApplication : public HttpApplication {
public:
  /// `judge`: nullptr for a server of the board alone. `is_local`: the server listens on loopback
  /// without a token, so a web page in a browser of this machine could reach it.
  ServerApplication(const Access& access, bool is_local, BoardPages& board, JudgeRoutes* judge);

  Admission admit(const HttpRequest& head) override;
  void handle(std::shared_ptr<Exchange> exchange) override;
  void tick() override;
  void end() override;

private:
  std::optional<HttpReply> refuse(const HttpRequest& head, const std::optional<Target>& target,
                                  const std::optional<Client>& client) const;
  void route(const std::shared_ptr<Exchange>& exchange);
  void remember_health();

  const Access& access_;
  bool is_local_;
  BoardPages& board_;
  JudgeRoutes* judge_;
  std::chrono::steady_clock::time_point trimmed_;
  std::mutex mutex_; ///< guards `health_`
  HttpReply health_; ///< for the network's thread: it answers however busy the application is
};

/// The answer for an error that is not the client's. Its text may name files and what belongs to
/// others, so it goes to the log only.
HttpReply unsaid_error(int status, const std::exception& error);

/// Answers the exchange with what `action` throws.
void answering(Exchange& exchange, const std::function<void()>& action);

} // namespace winnow::harness
