#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace winnow::agents {

/// How a Claude model is told how long to think. This depends on the version in its name.
struct ClaudeThinking {
  nlohmann::json config; ///< the member "thinking"; null: not sent
  std::string effort;    ///< empty: not sent
  bool takes_temperature = true;
};

/// `effort` is a word of ModelRequest::effort. A name without a version is taken for a model that
/// thinks adaptively and takes a temperature.
ClaudeThinking claude_thinking(std::string_view model, const std::string& effort,
                               std::int64_t max_tokens);

} // namespace winnow::agents
