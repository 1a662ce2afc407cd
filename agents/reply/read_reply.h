#pragma once

#include "agents/reply/fenced_blocks.h"

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::agents {

/// What a model wrote, read once. Everything that looks for a kernel file, for search/replace
/// blocks or for JSON in a reply begins here.
struct Reply {
  /// The answer, without thoughts and the marks of chat templates, in lines that end in LF.
  std::string final_text;
  /// The answer in pieces: thoughts stood between them. The last one that holds what is looked for
  /// is the final one.
  std::vector<std::string> parts;
  std::string reasoning;
  std::string open_thoughts;        ///< the mark of thoughts that the reply ends in: "<think>"
  std::vector<std::string> repairs; ///< in words
  std::string finish_reason;        ///< as the endpoint says; empty: unknown

  bool hit_limit() const { return finish_reason == "length" || finish_reason == "max_tokens"; }
};

/// Reads the text of a reply. Takes time in proportion to its length.
Reply read_reply(std::string_view text, std::string_view finish_reason);

/// "the reply ends inside X: the token limit cut it off", or what is known instead.
std::string cut_off(std::string_view where, const Reply& reply);

/// The last part of the answer that holds a JSON object; its objects in order.
std::vector<nlohmann::json> json_objects(const Reply& reply);

/// What a model thought, and what it answered then.
struct ReplyParts {
  std::string reasoning; ///< empty: the reply has none
  std::string answer;
};

/// The thoughts of a reply, or the "reasoning" of a JSON reply. Such a reply is itself the answer.
ReplyParts split_reply(std::string_view reply);

} // namespace winnow::agents
