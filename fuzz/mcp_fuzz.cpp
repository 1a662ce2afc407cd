#include "harness/mcp/message_lines.h"
#include "harness/mcp/session.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

using namespace winnow::harness;

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

/// Answers each command with its own words.
class Echo : public CommandRunner {
public:
  CommandResult run(const std::vector<std::string>& arguments, const CommandWatch& watch) override {
    CommandResult result{0, "", "", "", false};
    for (const std::string& word : arguments) {
      require(word.find('\0') == std::string::npos);
      watch.line(word);
      result.out += word + "\n";
    }
    result.exit_code = static_cast<int>(arguments.size() % 5);
    result.cancelled = !watch.goes_on();
    return result;
  }
};

void check_sent(const nlohmann::json& message) {
  require(message.at("jsonrpc") == "2.0");
  require(message.contains("method") || message.contains("result") != message.contains("error"));
  require(!message.contains("result") || is_rpc_id(message.at("id")));
  require(nlohmann::json::accept(message.dump()));
}

} // namespace

// The lines of a client. The first byte says how they are cut, and whether the client begins as the
// protocol asks.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  constexpr std::size_t kMostBytes = 4096;
  const std::size_t piece = std::size_t{data[0]} % 64 + 1;
  std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  Echo echo;
  std::mutex mutex;
  McpSession session({echo,
                      [&](const nlohmann::json& message) {
                        const std::lock_guard lock(mutex);
                        check_sent(message);
                      },
                      "1",
                      {}});
  if (data[0] < 128) {
    session.take(R"({"jsonrpc":"2.0","id":0,"method":"initialize",)"
                 R"("params":{"protocolVersion":"2025-11-25"}})",
                 false);
  }
  MessageLines lines(kMostBytes);
  const auto take = [&](std::string_view line, bool too_long) {
    require(line.size() <= kMostBytes);
    session.take(line, too_long);
  };
  while (!text.empty()) {
    lines.add(text.substr(0, piece), take);
    text.remove_prefix(std::min(piece, text.size()));
  }
  lines.finish(take);
  session.wait_for_calls();
  return 0;
}
