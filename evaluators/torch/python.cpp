#include "evaluators/torch/python.h"

#include "base/error.h"
#include "base/text.h"
#include "process/child_process.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace winnow::evaluators {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kAnswerWithin{60};
constexpr const char* kAsk = "import json, site, sys\n"
                             "print(json.dumps([sys.executable, sys.prefix, sys.base_prefix, "
                             "*sys.path, site.getusersitepackages()]))";

/// The files that the path leads to, one link after the other.
std::vector<fs::path> targets_of(fs::path link) {
  std::vector<fs::path> targets;
  std::error_code error;
  constexpr std::size_t kMost = 16;
  while (fs::is_symlink(link, error) && targets.size() < kMost) {
    link = (link.parent_path() / fs::read_symlink(link, error)).lexically_normal();
    if (error || !fs::exists(link, error)) {
      break;
    }
    targets.push_back(link);
  }
  return targets;
}

} // namespace

const std::string_view kInstallTorch = "install PyTorch with `pip install torch` "
                                       "(https://pytorch.org/get-started/locally has the command "
                                       "for each GPU), or name a Python that has PyTorch in "
                                       "WINNOW_PYTHON";

fs::path find_python(const std::string& name, std::string_view named_by) {
  if (name.find('/') != std::string::npos) {
    if (access(name.c_str(), X_OK) == 0 && fs::is_regular_file(name)) {
      return fs::absolute(name);
    }
    throw UsageError(fmt::format("{} {}: no such program", named_by, name),
                     "give the path of a Python with PyTorch");
  }
  const char* path = std::getenv("PATH");
  const std::string directories = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  for (std::size_t begin = 0; begin <= directories.size();) {
    const std::size_t end = std::min(directories.find(':', begin), directories.size());
    const fs::path candidate = fs::path(directories.substr(begin, end - begin)) / name;
    if (candidate.is_absolute() && access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
    begin = end + 1;
  }
  throw UsageError(fmt::format("{} {}: no such program in PATH", named_by, name),
                   "install Python with PyTorch, or give the path of the program");
}

std::string default_python() {
  const char* named = std::getenv("WINNOW_PYTHON");
  return named != nullptr && *named != '\0' ? named : "python3";
}

Python ask_python(const fs::path& python) {
  process::Command command;
  command.argv = {python.string(), "-c", kAsk};
  for (const char* name : {"HOME", "PATH"}) { // HOME has the user's own packages
    if (const char* value = std::getenv(name)) {
      command.environment[name] = value;
    }
  }
  command.limits.wall = kAnswerWithin;
  const process::ChildResult child = process::run_child(command, "");
  const nlohmann::json answer = nlohmann::json::parse(child.out, nullptr, false);
  if (!answer.is_array() || answer.empty() || !answer[0].is_string()) {
    throw Error(fs::path(python).string() + " does not say from where it imports: " +
                    truncate_text(to_valid_utf8(trim(child.err + child.error)), 300),
                "name another Python in WINNOW_PYTHON");
  }
  Python found{answer[0].get<std::string>(), {}};
  std::vector<fs::path>& folders = found.folders;
  for (const fs::path& target : targets_of(found.program)) { // of a virtual environment
    if (!target.string().starts_with("/usr/")) {
      folders.push_back(target);
    }
  }
  for (std::size_t i = 1; i < answer.size(); ++i) {
    const nlohmann::json& item = answer[i];
    const fs::path folder = item.is_string() ? fs::path(item.get<std::string>()) : fs::path();
    std::error_code ignored;
    const bool is_known = folder.string().starts_with("/usr/") ||
                          std::find(folders.begin(), folders.end(), folder) != folders.end();
    if (folder.is_absolute() && !is_known && fs::exists(folder, ignored)) {
      folders.push_back(folder);
    }
  }
  return found;
}

} // namespace winnow::evaluators
