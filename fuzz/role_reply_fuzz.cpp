#include "agents/roles/role_reply.h"
#include "base/text.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

// A reply comes from a model and may contain anything. The first byte selects the role.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  constexpr const char* kOperators[] = {"judge", "verify", "meta", "forecast"};
  const char* const op = kOperators[data[0] % 4];
  const std::string_view reply(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto parsed =
      winnow::agents::parse_role_reply(op, reply, {{"time_us", "dram_throughput_pct"}, 20, 9});
  // There must be either advice or a problem, and prompts show both: they must be valid UTF-8.
  if (parsed.advice.empty() == parsed.problem.empty() || winnow::find_invalid_utf8(parsed.advice) ||
      winnow::find_invalid_utf8(parsed.problem)) {
    std::abort();
  }
  if (!parsed.advice.empty() && data[0] % 4 == 0) {
    winnow::agents::advice_in_words(parsed.advice);
  }
  return 0;
}
