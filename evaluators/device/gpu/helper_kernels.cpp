#include "evaluators/device/gpu/helper_kernels.h"

#include "base/embedded_file.h"

namespace winnow::helper_kernel_files {
const std::vector<winnow::EmbeddedFile>& embedded_files();
}

namespace winnow::evaluators {

std::string_view gpu_helper_source() {
  static const std::string source = [] {
    std::string text;
    for (const EmbeddedFile& file : helper_kernel_files::embedded_files()) {
      text += file.text;
    }
    constexpr std::string_view kOnce = "#pragma once\n"; // the joined text is not a header
    // The joined text already has dtype_core.h above.
    constexpr std::string_view kInclude = "#include \"tasks/inputs/dtype_core.h\"\n";
    for (const std::string_view line : {kOnce, kInclude}) {
      for (auto at = text.find(line); at != std::string::npos; at = text.find(line)) {
        text.erase(at, line.size());
      }
    }
    return text;
  }();
  return source;
}

const std::vector<std::string>& gpu_helper_kernels() {
  static const std::vector<std::string> kernels{"winnow_generate",
                                                "winnow_verify_generated",
                                                "winnow_fill_guard",
                                                "winnow_verify_guard",
                                                "winnow_fill",
                                                "winnow_checksum",
                                                "winnow_read_all",
                                                "winnow_compare",
                                                "winnow_count_differences",
                                                "winnow_hold",
                                                "winnow_stamp_clock",
                                                "winnow_clock_step"};
  return kernels;
}

} // namespace winnow::evaluators
