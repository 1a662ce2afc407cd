#pragma once

#include "harness/mcp/command_runner.h"
#include "harness/mcp/json_rpc.h"
#include "harness/mcp/running_calls.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace winnow::harness {

constexpr std::size_t kMostMessageBytes = std::size_t{16} << 20U;

/// A server of the Model Context Protocol (modelcontextprotocol.io) for one client: messages go in,
/// answers come out. Knows no transport. Use it from one thread; the answers of calls come from
/// their threads.
class McpSession {
public:
  struct Setup {
    CommandRunner& runner;
    std::function<void(const nlohmann::json& message)> send; ///< may be called by several threads
    std::string version;                                     ///< of the program
    std::vector<std::string> server; ///< options of each command: where it is judged
    std::size_t most_calls = 8;      ///< at the same time
  };
  explicit McpSession(Setup setup);

  /// A line of the transport. Never throws because of what it says.
  void take(std::string_view line, bool too_long);
  void wait_for_calls() { calls_.wait(); }

private:
  void handle(const RpcMessage& message);
  void notice(const RpcMessage& message);
  nlohmann::json answer(const RpcMessage& request);
  nlohmann::json initialize(const RpcMessage& request);
  void call(const RpcMessage& request);

  Setup setup_;
  bool initialized_ = false;
  RunningCalls calls_; // last: its threads use the other members
};

} // namespace winnow::harness
