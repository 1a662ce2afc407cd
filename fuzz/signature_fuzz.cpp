#include "tasks/plan/signature.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace winnow::tasks;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto parameters = decode_parameters(text)) {
    const auto again = decode_parameters(encode_parameters(*parameters));
    if (!again || again->size() != parameters->size()) {
      std::abort();
    }
  }
  return 0;
}
