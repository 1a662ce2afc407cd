#include "tasks/task_word.h"

#include "base/error.h"
#include "base/text/shell_word.h"
#include "tasks/catalogue.h"

#include <system_error>

namespace winnow::tasks {
namespace {

namespace fs = std::filesystem;

bool is_in_catalogue(const fs::path& folder) {
  try {
    std::error_code ignored;
    return fs::equivalent(folder.parent_path().parent_path(), find_catalogue(), ignored);
  } catch (const UsageError&) {
    return false; // there is no catalogue
  }
}

} // namespace

fs::path absolute_folder(const fs::path& folder) {
  return fs::absolute(folder / "").lexically_normal().parent_path();
}

fs::path own_folder(const Task& task) {
  if (task.folder.empty()) {
    return {};
  }
  const fs::path folder = absolute_folder(task.folder);
  return is_in_catalogue(folder) ? fs::path() : folder;
}

std::string folder_word(const fs::path& folder) {
  const fs::path here = folder.lexically_proximate(fs::current_path());
  if (here.empty() || *here.begin() == "..") {
    return shell_word(folder.string());
  }
  const bool is_plain = here != "." && !here.has_parent_path(); // as the name of a catalogue's task
  return shell_word((is_plain ? "./" : "") + here.string());
}

std::string task_word(const Task& task) {
  const fs::path own = own_folder(task);
  return own.empty() ? shell_word(task.name) : folder_word(own);
}

} // namespace winnow::tasks
