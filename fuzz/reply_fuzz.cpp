#include "agents/reply/reply.h"
#include "base/text.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

// A reply comes from a model and may contain anything. The first byte selects the finish reason.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view reply(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto kernel =
      winnow::agents::extract_kernel_file(reply, data[0] % 2 == 0 ? "stop" : "length");
  // There must be either a kernel or a problem. The texts for the next prompt must be valid UTF-8.
  if (kernel.text.has_value() == !kernel.problem.empty() ||
      winnow::find_invalid_utf8(kernel.problem) || winnow::find_invalid_utf8(kernel.note)) {
    std::abort();
  }
  return 0;
}
