#pragma once

#include "base/error.h"
#include "evaluators/device/device_report.h"
#include "harness/client/server_connection.h"

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// Where a command is answered instead of here.
struct ServerOptions {
  std::string server;     ///< connection_to(); empty: here
  std::string token_file; ///< empty: the variable WINNOW_TOKEN has the token, or there is none
};

/// A `winnow serve --judge` as a client sees it. Any thread may call it, one at a time.
class JudgeServer {
public:
  /// Nothing is asked yet. Throws UsageError.
  explicit JudgeServer(const ServerOptions& options);

  /// The answer to a request that needs no waiting. Throws UsageError with the server's words for a
  /// request that it refuses, Error if it has a fault or nobody answers.
  nlohmann::json get(const std::string& target);
  /// Waits while the server is full. A request to stop ends only that: then Error is thrown.
  nlohmann::json post(const std::string& target, const nlohmann::json& body,
                      std::chrono::seconds wait, const std::stop_token& stop);
  nlohmann::json get(const std::string& target, std::chrono::seconds wait,
                     const std::stop_token& stop);
  /// The body as it is.
  std::string text(const std::string& target);
  void remove(const std::string& target);

private:
  ServerAnswer checked(const std::string& method, const std::string& target,
                       const std::string& body, std::chrono::seconds wait,
                       const std::stop_token& stop);

  std::unique_ptr<ServerConnection> connection_;
};

/// What a server says about itself and a task.
struct ServedTask {
  std::string task;   ///< its name
  std::string versus; ///< what speedups are against
  evaluators::DeviceReport device;
};
/// Throws as JudgeServer::get(), and Error for a server of another version.
ServedTask served_task(JudgeServer& server, const std::string& task);

/// A text that is a part of a target: "a%2Fb".
std::string url_part(const std::string& text);

} // namespace winnow::harness
