#include "harness/import/import_modules.h"

#include "base/error.h"
#include "base/files.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "tasks/task.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kScaled = "scaled"; ///< the flag of sizes that were cut
constexpr std::uint64_t kMostSourceBytes = 1U << 20U;

json describe(evaluators::DeviceHost& host, const std::string& source, const Module& module,
              const ImportOptions& options) {
  const json request{{"do", "describe"},
                     {"source", source},
                     {"mode", module.origin.mode},
                     {"memory_bytes", options.memory_bytes},
                     {"device", host.device.kind == "cpu" ? "cpu" : "cuda"}};
  return host.torch.ask(json_line(request) + "\n", options.timeout);
}

void count_mutants(const json& description, Imported& result) {
  for (const json& mutant : description.value("mutants", json::array())) {
    const bool passes = mutant.value("passes", false);
    result.caught_at_1e4 += !passes && mutant.value("passes_kernelbench_1e-4", false) ? 1 : 0;
    result.caught_at_1e2 += !passes && mutant.value("passes_kernelbench_1e-2", false) ? 1 : 0;
  }
}

bool has_same_module(const fs::path& folder, const std::string& source) {
  std::error_code ignored;
  return fs::exists(folder / "task.toml", ignored) &&
         fs::exists(folder / "reference.py", ignored) &&
         read_file(folder / "reference.py", kMostSourceBytes) == source;
}

int number_of(const fs::path& file) {
  return std::atoi(file.filename().c_str());
}

void add_level(const fs::path& level, const fs::path& to, std::vector<Module>& modules) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(level)) {
    if (entry.path().extension() == ".py" && number_of(entry.path()) > 0) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return std::pair(number_of(a), a) < std::pair(number_of(b), b);
  });
  const std::string name = level.filename().string();
  for (const fs::path& file : files) {
    modules.push_back(
        {file,
         to / name / file.stem(),
         {fmt::format("KernelBench {}/{}", name, file.filename().string()), "train"}});
  }
}

} // namespace

Imported import_module(evaluators::DeviceHost& host, const Module& module,
                       const ImportOptions& options) {
  Imported result;
  result.folder = module.folder;
  try {
    const std::string source = read_file(module.file, kMostSourceBytes);
    if (has_same_module(module.folder, source)) {
      result.flags = tasks::load_task(module.folder).source.flags;
      result.was_there = true;
      return result;
    }
    const json description = describe(host, source, module, options);
    const std::string toml = module_task_toml(description, module.origin);
    tasks::parse_task({toml, "", "", source}, (module.folder / "task.toml").string());
    fs::create_directories(module.folder);
    write_file_atomic(module.folder / "reference.py", source);
    write_file_atomic(module.folder / "task.toml", toml);
    result.flags = module_flags(description);
    count_mutants(description, result);
  } catch (const std::exception& error) {
    result.refused = error.what();
  }
  return result;
}

std::vector<Module> kernelbench_modules(const fs::path& checkout, int level, const fs::path& to) {
  const fs::path inner = checkout / "KernelBench";
  const fs::path root = fs::is_directory(inner) ? inner : checkout;
  std::vector<Module> modules;
  for (int number = 1; number <= 3; ++number) {
    const fs::path folder = root / fmt::format("level{}", number);
    if ((level == 0 || level == number) && fs::is_directory(folder)) {
      add_level(folder, to, modules);
    }
  }
  if (modules.empty()) {
    throw UsageError(checkout.string() + ": no problems of KernelBench here",
                     "name a checkout of KernelBench, with files such as "
                     "KernelBench/level1/19_ReLU.py");
  }
  return modules;
}

std::string import_text(const std::vector<Imported>& imported) {
  struct Row {
    int tasks = 0, scaled = 0, flagged = 0, refused = 0, caught_at_1e4 = 0, caught_at_1e2 = 0;
  };
  std::map<std::string, Row> rows;
  std::string text;
  for (const Imported& one : imported) {
    Row& row = rows[one.folder.parent_path().filename().string()];
    row.tasks += one.refused.empty() ? 1 : 0;
    row.refused += one.refused.empty() ? 0 : 1;
    const auto scaled = std::count(one.flags.begin(), one.flags.end(), kScaled);
    row.scaled += scaled > 0 ? 1 : 0;
    row.flagged += static_cast<std::ptrdiff_t>(one.flags.size()) > scaled ? 1 : 0;
    row.caught_at_1e4 += one.caught_at_1e4;
    row.caught_at_1e2 += one.caught_at_1e2;
    const std::string name = one.folder.filename().string();
    if (!one.refused.empty()) {
      text += fmt::format("refused: {}: {}\n", name, truncate_text(one.refused, 300));
    } else if (!one.flags.empty()) {
      text += fmt::format("flagged: {}: {}\n", name, join(one.flags, "; "));
    }
  }
  text +=
      "folder        tasks  scaled  flagged  refused  wrong answers caught that pass 1e-4 / 1e-2\n";
  for (const auto& [name, row] : rows) {
    text += fmt::format("{:12}  {:5}  {:6}  {:7}  {:7}  {} / {}\n", name, row.tasks, row.scaled,
                        row.flagged, row.refused, row.caught_at_1e4, row.caught_at_1e2);
  }
  return text;
}

} // namespace winnow::harness
