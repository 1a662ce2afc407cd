#include "harness/import/import_modules.h"

#include "base/error.h"
#include "base/files.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "tasks/task.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kScaled = "scaled"; ///< the flag of sizes that were cut
constexpr std::uint64_t kMostSourceBytes = 1U << 20U;

/// Imports modules with a torch child of its own.
class Importer {
public:
  Importer(evaluators::DeviceHost& host, const ImportOptions& options, unsigned threads)
      : torch_(host.sandbox, host.exchange, host.device, host.cache, threads),
        device_(host.device.kind == "cpu" ? "cpu" : "cuda"), options_(options) {}

  Imported import(const Module& module);

private:
  json describe(const std::string& source, const std::string& mode);

  evaluators::TorchChild torch_;
  std::string device_;
  ImportOptions options_;
};

json Importer::describe(const std::string& source, const std::string& mode) {
  const json request{{"do", "describe"},
                     {"source", source},
                     {"mode", mode},
                     {"memory_bytes", options_.memory_bytes},
                     {"device", device_}};
  return torch_.ask(json_line(request) + "\n", options_.timeout);
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

Imported Importer::import(const Module& module) {
  Imported result;
  result.folder = module.folder;
  try {
    const std::string source = read_file(module.file, kMostSourceBytes);
    if (has_same_module(module.folder, source)) {
      result.flags = tasks::load_task(module.folder).source.flags;
      result.was_there = true;
      return result;
    }
    const json description = describe(source, module.origin.mode);
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

bool lacked_memory(const Imported& result) {
  return result.refused.find("out of memory") != std::string::npos;
}

} // namespace

std::vector<Imported> import_modules(evaluators::DeviceHost& host,
                                     const std::vector<Module>& modules,
                                     const ImportOptions& options, const ImportProgress& progress) {
  host.torch.start(); // so that a missing PyTorch is said once
  const unsigned jobs = std::max(1U, std::min(options.jobs, static_cast<unsigned>(modules.size())));
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  std::vector<Imported> results(modules.size());
  std::atomic<std::size_t> next{0};
  std::mutex reporting;
  const auto work = [&] {
    Importer importer(host, options, std::max(1U, cores / jobs));
    for (std::size_t i = next++; i < modules.size(); i = next++) {
      results[i] = importer.import(modules[i]);
      if (progress && (jobs == 1 || !lacked_memory(results[i]))) {
        const std::lock_guard lock(reporting);
        progress(modules[i], results[i]);
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < jobs; ++i) {
    threads.emplace_back(work);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  Importer alone(host, options, cores);
  for (std::size_t i = 0; jobs > 1 && i < modules.size(); ++i) {
    if (lacked_memory(results[i])) {
      results[i] = alone.import(modules[i]);
      if (progress) {
        progress(modules[i], results[i]);
      }
    }
  }
  return results;
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
