// The parts of a model's reply that every reader of replies looks for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace winnow::agents {

/// The begin and end of the plan comment "/*@winnow ... */". npos: the comment does not exist, or
/// is not closed.
struct PlanComment {
  std::size_t begin = std::string_view::npos;
  std::size_t end = std::string_view::npos;
  bool exists() const { return begin != std::string_view::npos; }
  bool closed() const { return end != std::string_view::npos; }
};
PlanComment find_plan(std::string_view text);

/// Removes the reasoning that some servers put in front of the answer. False: the reply contains
/// only reasoning.
bool skip_thoughts(std::string_view& reply);

/// What a model thought, and what it answered then.
struct ReplyParts {
  std::string reasoning; ///< empty: the reply has none
  std::string answer;
};

/// Takes the reasoning from between its tags, or from the "reasoning" of a reply that follows
/// kernel_reply_schema(). Such a reply is itself the answer.
ReplyParts split_reply(std::string_view reply);

/// A member ("kernel_file", "reasoning") of a reply that follows kernel_reply_schema(); nullopt if
/// the member is empty, and for any other reply.
std::optional<std::string> structured_member(std::string_view reply, const char* name);

} // namespace winnow::agents
