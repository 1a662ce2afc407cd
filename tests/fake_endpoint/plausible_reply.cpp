#include "tests/fake_endpoint/plausible_reply.h"

#include <optional>

namespace winnow::tests {
namespace {

constexpr std::string_view kFence = "```";
constexpr std::size_t kBytesPerToken = 4;

/// The last kernel file of the prompt, with its fence.
std::optional<std::string> last_kernel_file(const std::string& prompt) {
  const std::size_t plan = prompt.rfind("/*@winnow");
  if (plan == std::string::npos) {
    return std::nullopt;
  }
  const std::size_t begin = prompt.rfind(kFence, plan);
  const std::size_t end = prompt.find(kFence, plan);
  if (begin == std::string::npos || end == std::string::npos) {
    return std::nullopt;
  }
  return prompt.substr(begin, end + kFence.size() - begin);
}

std::int64_t tokens(const std::string& text) {
  return static_cast<std::int64_t>(text.size() / kBytesPerToken + 1);
}

} // namespace

FakeReply plausible_reply(const Question& question) {
  const auto kernel = last_kernel_file(question.text);
  FakeReply reply = chat_reply(kernel ? "It is hard to do better than this:\n\n" + *kernel + "\n"
                                      : "Hello from the fake endpoint.");
  reply.answer->model = question.model;
  reply.answer->usage = {tokens(question.text), 0, tokens(reply.answer->text), 0, 0};
  return reply;
}

} // namespace winnow::tests
