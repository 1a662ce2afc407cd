#include "base/error.h"
#include "evaluators/device/inspect/gpu_module.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

// The file comes from a process that read a candidate's data. Encoding a decoded file and decoding
// it again must give the same image.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace winnow::evaluators;
  try {
    const GpuModuleFile module =
        decode_gpu_module(std::string_view(reinterpret_cast<const char*>(data), size));
    if (decode_gpu_module(encode(module)).image != module.image) {
      std::abort();
    }
  } catch (const winnow::Error&) {
    return 0;
  }
  return 0;
}
