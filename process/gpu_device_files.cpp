#include "process/fence.h"

#include <algorithm>
#include <string_view>

namespace winnow::process {
namespace {

namespace fs = std::filesystem;

void add_matching(const fs::path& directory, std::string_view prefix,
                  std::vector<fs::path>& found) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().filename().string().starts_with(prefix) && entry.is_character_file(error)) {
      found.push_back(entry.path());
    }
  }
}

} // namespace

std::vector<fs::path> gpu_device_files() {
  std::vector<fs::path> found;
  add_matching("/dev", "nvidia", found); // nvidia0, nvidiactl, nvidia-uvm, nvidia-uvm-tools
  add_matching("/dev/nvidia-caps", "nvidia-cap", found);
  add_matching("/dev", "kfd", found);
  add_matching("/dev/dri", "renderD", found);
  std::sort(found.begin(), found.end());
  return found;
}

} // namespace winnow::process
