#include "tasks/skeleton/skeleton.h"

#include "base/embedded_file.h"
#include "base/error.h"
#include "base/files.h"
#include "tasks/expression/expression.h"

namespace winnow::skeleton_files {
const std::vector<winnow::EmbeddedFile>& embedded_files();
}

namespace winnow::tasks {

std::vector<std::string> write_skeleton(const std::filesystem::path& name) {
  const std::filesystem::path folder = (name / "").lexically_normal().parent_path();
  if (std::filesystem::exists(folder)) {
    throw UsageError(folder.string() + " exists already", "name another folder");
  }
  if (!is_identifier(folder.filename().string())) {
    throw UsageError("'" + folder.filename().string() + "' is no name for a task",
                     "CATEGORY/NAME with letters, digits and '_' in NAME, such as sparse/spmv");
  }
  std::vector<std::string> written;
  for (const EmbeddedFile& file : skeleton_files::embedded_files()) {
    const std::filesystem::path path = folder / file.path;
    std::filesystem::create_directories(path.parent_path());
    write_file_atomic(path, std::string(file.text));
    written.emplace_back(file.path);
  }
  return written;
}

} // namespace winnow::tasks
