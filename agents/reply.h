#pragma once

#include "agents/model_request.h"

#include <optional>
#include <string>
#include <string_view>

namespace winnow::agents {

constexpr std::size_t kMaxReplyBytes = 4U << 20U;

/// The kernel file inside a model's reply, or the reason why there is none ("the reply ends inside
/// a code block: cut at the token limit?", "two code blocks hold a plan; send one", "no code
/// block", ...).
struct ExtractedKernel {
  std::optional<std::string> text;
  std::string problem; ///< what is wrong and what was expected; for the next prompt
  std::string note;    ///< "took the second of three code blocks: the only one with a plan"
};

/// JSON with the members "reasoning" and "kernel_file", for endpoints that support schemas.
ReplySchema kernel_reply_schema();

/// Takes the fenced block (or the bare text) that contains /*@winnow ... @*/ and code. A reply that
/// follows kernel_reply_schema() is searched in its "kernel_file". Never throws.
ExtractedKernel extract_kernel_file(std::string_view reply, std::string_view finish_reason);

/// What a reply says about its kernel before it shows the kernel: one line of about `max_bytes` at
/// most. Empty: the reply says nothing.
std::string idea_of(std::string_view reply, std::size_t max_bytes);

} // namespace winnow::agents
