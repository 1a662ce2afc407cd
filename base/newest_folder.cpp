#include "base/newest_folder.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace winnow {

namespace fs = std::filesystem;

fs::path newest_folder(const fs::path& parent, const std::string& name, std::size_t most) {
  const fs::path wanted = fs::absolute(parent) / name;
  fs::create_directories(wanted);
  std::error_code gone; // another process may remove the same folders
  fs::last_write_time(wanted, fs::file_time_type::clock::now(), gone);
  std::vector<std::pair<fs::file_time_type, fs::path>> folders;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, gone)) {
    folders.emplace_back(entry.last_write_time(gone), entry.path());
  }
  std::sort(folders.rbegin(), folders.rend());
  for (std::size_t i = most; i < folders.size(); ++i) {
    fs::remove_all(folders[i].second, gone);
  }
  return wanted;
}

} // namespace winnow
