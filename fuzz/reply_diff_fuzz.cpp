#include "agents/reply/reply_diff.h"
#include "agents/reply/reply_text.h"
#include "base/text.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

// A reply with search/replace blocks comes from a model and may contain anything. The parent stands
// before the line "@@@@@@@", the reply after it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view kBorder = "@@@@@@@\n";
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t border = all.find(kBorder);
  if (border == std::string_view::npos) {
    return 0;
  }
  const std::string_view parent = all.substr(0, border);
  const std::string_view reply = all.substr(border + kBorder.size());
  const auto applied = winnow::agents::apply_blocks(parent, reply);
  // There must be either a text or a problem, which must be valid UTF-8.
  if (applied.text.has_value() == !applied.problem.empty() ||
      winnow::find_invalid_utf8(applied.problem)) {
    std::abort();
  }
  // The parent's plan stays as it is.
  const auto plan = winnow::agents::find_plan(parent);
  if (applied.text && plan.exists() && plan.closed() && parent.find('\r') == parent.npos) {
    const std::string_view before = parent.substr(plan.begin, plan.end - plan.begin);
    const auto now = winnow::agents::find_plan(*applied.text);
    if (applied.text->substr(now.begin, now.end - now.begin) != before) {
      std::abort();
    }
  }
  winnow::agents::extract_changed_kernel(parent, reply, "stop");
  return 0;
}
