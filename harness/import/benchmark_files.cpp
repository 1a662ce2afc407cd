#include "base/error.h"
#include "base/files.h"
#include "harness/import/import_modules.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostFileBytes = 1U << 20U;
constexpr int kLevels = 3;

int number_of(const fs::path& file) {
  return std::atoi(file.filename().c_str());
}

bool is_problem(const fs::path& file) {
  std::error_code ignored;
  if (file.extension() != ".py" || fs::file_size(file, ignored) > kMostFileBytes) {
    return false;
  }
  const std::string text = read_file(file, kMostFileBytes);
  return text.find("class Model") != std::string::npos &&
         text.find("def get_inputs(") != std::string::npos;
}

bool is_numbered(const fs::path& file) {
  return file.extension() == ".py" && number_of(file) > 0;
}

/// The problem of a file in the folder `name`.
Module problem(const fs::path& file, const std::string& source, const std::string& name,
               const fs::path& to) {
  return {file,
          to / name / file.stem(),
          {fmt::format("{} {}", source, (fs::path(name) / file.filename()).string()), "train"}};
}

/// Adds the files of a folder that `wanted` accepts. `source` names the benchmark.
void add_folder(const fs::path& folder, const std::string& source, bool (*wanted)(const fs::path&),
                const fs::path& to, std::vector<Module>& modules) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file() && wanted(entry.path())) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return std::pair(number_of(a), a) < std::pair(number_of(b), b);
  });
  const std::string name = folder.filename().string();
  for (const fs::path& file : files) {
    modules.push_back(problem(file, source, name, to));
  }
}

std::vector<Module> levels(const fs::path& root, int level, const fs::path& to) {
  std::vector<Module> modules;
  for (int number = 1; number <= kLevels; ++number) {
    const fs::path folder = root / fmt::format("level{}", number);
    if ((level == 0 || level == number) && fs::is_directory(folder)) {
      add_folder(folder, "KernelBench", is_numbered, to, modules);
    }
  }
  return modules;
}

std::vector<Module> categories(const fs::path& root, const fs::path& to) {
  std::vector<fs::path> folders;
  std::vector<Module> modules;
  if (!fs::is_directory(root)) {
    return modules;
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(root)) {
    if (entry.is_directory()) {
      folders.push_back(entry.path());
    }
  }
  std::sort(folders.begin(), folders.end());
  for (const fs::path& folder : folders) {
    add_folder(folder, "MultiKernelBench", is_problem, to, modules);
  }
  return modules;
}

/// 0: the folder is no level.
int level_of(const std::string& folder) {
  for (int number = 1; number <= kLevels; ++number) {
    if (folder == fmt::format("level{}", number)) {
      return number;
    }
  }
  return 0;
}

/// A file of a folder levelN or reference/CATEGORY has that folder's name; another has none.
Module one_problem(const fs::path& file, int level, const fs::path& to) {
  const fs::path folder = fs::absolute(file).lexically_normal().parent_path();
  const std::string name = folder.filename().string();
  const int found = level_of(name);
  if (!is_problem(file) || (level != 0 && level != found)) {
    throw UsageError(
        file.string() + ": no problem of KernelBench" +
            (level == 0 ? "" : fmt::format(" of level {}, by the folder of the file", level)),
        "name a Python file with a class Model and get_inputs(); leave out --level for a file");
  }
  const bool has_category = found == 0 && folder.parent_path().filename() == "reference";
  return problem(file, has_category ? "MultiKernelBench" : "KernelBench",
                 found != 0 || has_category ? name : "", to);
}

} // namespace

std::vector<Module> benchmark_modules(const fs::path& checkout, int level, const fs::path& to) {
  if (fs::is_regular_file(checkout)) {
    return {one_problem(checkout, level, to)};
  }
  const fs::path inner = checkout / "KernelBench";
  std::vector<Module> modules = levels(fs::is_directory(inner) ? inner : checkout, level, to);
  if (modules.empty() && level == 0) {
    modules = categories(checkout / "reference", to);
  }
  if (modules.empty()) {
    throw UsageError(checkout.string() + ": no problems of KernelBench here",
                     "name a checkout of KernelBench, with files such as "
                     "KernelBench/level1/19_ReLU.py, or of MultiKernelBench, with files such as "
                     "reference/activation/relu.py, or one such file");
  }
  return modules;
}

} // namespace winnow::harness
