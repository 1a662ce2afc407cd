#pragma once

#include "agents/model/model_request.h"
#include "agents/reply/read_reply.h"

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

/// Why a reply is too large to be read; empty: it is not.
std::string too_large(std::string_view reply);

/// Takes the fenced block (or the bare text) of the answer that contains /*@winnow ... @*/ and
/// code. JSON is searched for its "kernel_file", or for the only text that has both. Never throws.
ExtractedKernel extract_kernel_file(std::string_view reply, std::string_view finish_reason);
ExtractedKernel extract_kernel_file(const Reply& reply);

/// What a reply says about its kernel before it shows the kernel: one line of about `max_bytes` at
/// most. Empty: the reply says nothing.
std::string idea_of(std::string_view reply, std::size_t max_bytes);

} // namespace winnow::agents
