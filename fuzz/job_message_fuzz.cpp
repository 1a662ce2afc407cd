#include "base/error.h"
#include "remote/job_message.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace winnow::remote;

namespace {

// What can be decoded must survive another round.
template <typename Message>
void try_message(std::string_view text, Message (*decode)(std::string_view)) {
  try {
    const std::string once = encode(decode(text));
    if (encode(decode(once)) != once) {
      std::abort();
    }
  } catch (const winnow::Error&) { // the text has a mistake
  }
}

void try_task(std::string_view text) {
  try {
    const std::string once = winnow::evaluators::encode(*winnow::evaluators::decode_task(text));
    if (winnow::evaluators::encode(*winnow::evaluators::decode_task(once)) != once) {
      std::abort();
    }
  } catch (const winnow::Error&) { // the text has a mistake
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try_message(text, decode_job);
  try_message(text, decode_pool_rules);
  try_message(text, decode_heartbeat);
  try_task(text);
  return 0;
}
