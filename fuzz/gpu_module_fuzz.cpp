#include "base/error.h"
#include "evaluators/device/inspect/cache_entry.h"
#include "evaluators/device/inspect/gpu_module.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

// The file comes from a process that read a candidate's data. Encoding a decoded file and decoding
// it again must give the same image. A file of the cache must give the module that was put in.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace winnow::evaluators;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto found = decode_cache_entry(bytes);
  if ((found && encode(*found) != bytes) || module_part(encode(CacheEntry{bytes, "{}"})) != bytes) {
    std::abort();
  }
  try {
    const GpuModuleFile module = decode_gpu_module(module_part(bytes));
    if (decode_gpu_module(encode(module)).image != module.image) {
      std::abort();
    }
  } catch (const winnow::Error&) {
    return 0;
  }
  return 0;
}
