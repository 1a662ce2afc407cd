#include "tasks/task/task_file.h"

#include "base/error.h"
#include "base/files.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace winnow::tasks {
namespace {

namespace fs = std::filesystem;

/// What is open cannot become a link to another file any more.
class OpenFile {
public:
  explicit OpenFile(const fs::path& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~OpenFile() { close(descriptor_); }
  OpenFile(const OpenFile&) = delete; // owns the descriptor
  OpenFile& operator=(const OpenFile&) = delete;

  bool is_regular() const {
    struct stat status {};
    return fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
  }
  fs::path link() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

private:
  int descriptor_;
};

bool is_below(const fs::path& folder, const fs::path& path) {
  std::error_code missing;
  const fs::path whole = fs::canonical(folder, missing);
  return !missing &&
         std::mismatch(whole.begin(), whole.end(), path.begin(), path.end()).first == whole.end();
}

/// Tasks of the catalogue share kernels, and everybody may read those.
bool belongs_to_catalogue(const fs::path& path) {
  const char* chosen = std::getenv("WINNOW_CATALOGUE");
  const auto shipped = find_shipped("tasks/catalogue");
  return (chosen != nullptr && *chosen != '\0' && is_below(chosen, path)) ||
         (shipped && is_below(*shipped, path));
}

} // namespace

std::string read_task_file(const fs::path& folder, const fs::path& file, std::uint64_t max_bytes) {
  const OpenFile opened(file);
  if (!opened.is_regular()) {
    return read_file(file, max_bytes); // says what is wrong
  }
  std::error_code unknown;
  const fs::path target = fs::read_symlink(opened.link(), unknown);
  if (unknown || (!is_below(folder, target) && !belongs_to_catalogue(target))) {
    throw UsageError(fmt::format("{} leads to {}, outside of the folder {}", file.string(),
                                 target.string(), folder.string()),
                     "if you want its text in prompts and stores, put a copy in place of the link");
  }
  return read_file(opened.link(), max_bytes);
}

} // namespace winnow::tasks
