#include "evaluators/device/headers/hip_headers.h"

namespace winnow::evaluators {

std::string hip_header_text(std::string_view cpu_text) {
  constexpr std::string_view kCpuPrelude = "winnow_cpu.h";
  constexpr std::string_view kHipPrelude = "winnow_hip.h";
  std::string text = "#pragma clang force_cuda_host_device begin\n";
  for (std::size_t at = cpu_text.find(kCpuPrelude); at != std::string_view::npos;
       at = cpu_text.find(kCpuPrelude)) {
    text.append(cpu_text.substr(0, at)).append(kHipPrelude);
    cpu_text.remove_prefix(at + kCpuPrelude.size());
  }
  return text.append(cpu_text).append("#pragma clang force_cuda_host_device end\n");
}

} // namespace winnow::evaluators
