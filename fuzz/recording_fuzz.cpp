#include "agents/record/recording.h"
#include "base/error.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

// A call that can be read must stay the same when it is written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  winnow::agents::RecordedCall call;
  try {
    call = winnow::agents::decode_call(line);
  } catch (const winnow::Error&) {
    return 0;
  }
  const std::string written = winnow::agents::encode_call(call);
  if (winnow::agents::encode_call(winnow::agents::decode_call(written)) != written) {
    std::abort();
  }
  return 0;
}
