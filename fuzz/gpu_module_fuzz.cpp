#include "base/error.h"
#include "evaluators/device/inspect/gpu_module.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

// The file was written by a process that a candidate has fed; what is read must be written alike.
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
