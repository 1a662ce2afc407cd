#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace winnow::agents {

/// Consecutive messages of one role are one turn; their texts are joined without a separator.
struct Message {
  std::string role; ///< "system", "user", "assistant"
  std::string text;
  /// The conversation up to the end of this message is the same in later requests, so a provider
  /// may cache it.
  bool end_of_prefix = false;
};

/// The JSON Schema of a reply that must be JSON.
struct ReplySchema {
  std::string name;   ///< letters, digits, '_' and '-'
  std::string schema; ///< JSON Schema; "strict": all properties required, no additional ones
};

struct ModelRequest {
  std::string key;         ///< names the call within its run: "row_softmax/0/3"
  std::string device = {}; ///< the kind of device that the kernel is for; only replays look at it
  /// The task whose kernel is asked for; empty: the request asks for something else. Only sessions
  /// of agents look at it and at `kernel`, the file to begin with: the parent, or a starter.
  std::string task = {};
  std::string kernel = {};
  std::string model;
  std::vector<Message> messages;
  double temperature = -1; ///< negative: not sent
  /// 0: not sent; if the format requires a value, its default is sent
  std::int64_t max_output_tokens = 0;
  /// How long the model reasons: "none", "minimal", "low", "medium", "high", "xhigh" or "max";
  /// empty: not sent. A format that lacks a word sends its nearest one.
  std::string effort;
  std::optional<ReplySchema> schema;
};

} // namespace winnow::agents
