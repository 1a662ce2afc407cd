#include "agents/reply/reply.h"
#include "agents/testing/reply_forms.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

// Draws a reply from the grammar of forms: every choice takes one byte. The kernel must come out.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::size_t at = 0;
  const std::string reply = winnow::agents::drawn_reply(
      [&](std::size_t n) { return at < size ? data[at++] % n : std::size_t{0}; });
  if (winnow::agents::extract_kernel_file(reply, "").text != winnow::agents::kFormKernel) {
    std::abort();
  }
  return 0;
}
