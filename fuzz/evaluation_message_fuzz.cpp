#include "base/error.h"
#include "evaluators/evaluation/evaluation_request.h"
#include "evaluators/evaluation/sitting_request.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace winnow::evaluators;

namespace {

// What can be decoded must survive another round.
template <typename Message>
void try_one(std::string_view text, Message (*decode)(std::string_view)) {
  try {
    const std::string once = encode(decode(text));
    if (encode(decode(once)) != once) {
      std::abort();
    }
  } catch (const winnow::Error&) { // the text has a mistake
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try_one(text, decode_evaluation_request);
  try_one(text, decode_evaluation_result);
  try_one(text, decode_sitting_request);
  try_one(text, decode_sitting_answer);
  return 0;
}
