#include "harness/import/import_modules.h"

#include "agents/json/json_text.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json_dump.h"
#include "harness/import/known_modules.h"
#include "tasks/parse/task_parse.h"
#include "tasks/task/task.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kImporterVersion = 1; ///< rises when the same file would become another task
constexpr std::uint64_t kMostSourceBytes = 1U << 20U;
constexpr const char* kRecord = "import.json";
constexpr const char* kFiles[] = {"reference.py", "task.toml", kRecord}; ///< the record last

json description_of(const Describe& describe, const std::string& source, const Module& module,
                    const KnownModule& known, const ImportOptions& options) {
  json description = describe({{"do", "describe"},
                               {"source", source + known.more_source},
                               {"mode", module.origin.mode},
                               {"memory_bytes", options.memory_bytes},
                               {"children", options.children},
                               {"device", options.device_kind == "cpu" ? "cpu" : "cuda"}});
  for (const std::string& flag : known.flags) {
    description["flags"].push_back(flag);
  }
  return description;
}

WrongAnswers count_wrong(const json& mutants) {
  WrongAnswers count;
  for (const json& mutant : mutants) {
    const bool passes = mutant.value("passes", false);
    count.tried += 1;
    count.passing += passes ? 1 : 0;
    count.caught_at_1e4 += !passes && mutant.value("passes_kernelbench_1e-4", false) ? 1 : 0;
    count.caught_at_1e2 += !passes && mutant.value("passes_kernelbench_1e-2", false) ? 1 : 0;
  }
  return count;
}

/// What must be the same for a folder to stay.
json settings_of(const Module& module, const ImportOptions& options) {
  return {{"importer", kImporterVersion},
          {"device", options.device_kind},
          {"memory_bytes", options.memory_bytes},
          {"mode", module.origin.mode}};
}

/// The record of a folder that was made of this file with these settings.
std::optional<json> record_of(const fs::path& folder, const std::string& source,
                              const json& settings) {
  for (const char* file : kFiles) {
    if (!is_file(folder / file)) {
      return std::nullopt;
    }
  }
  json record = agents::json_or_null(read_file(folder / kRecord, kMostSourceBytes));
  const bool is_same = record.is_object() && record.value("settings", json()) == settings &&
                       read_file(folder / "reference.py", kMostSourceBytes) == source;
  return is_same ? std::optional(std::move(record)) : std::nullopt;
}

/// A folder of another import keeps its other files.
void put_folder(const fs::path& folder, const std::string& toml, const std::string& source,
                const json& record) {
  const fs::path parent = fs::absolute(folder).parent_path();
  const fs::path partial = parent / ("." + folder.filename().string() + ".partial");
  fs::remove_all(partial); // of an import that was killed
  fs::create_directories(partial);
  write_file_atomic(partial / "task.toml", toml);
  write_file_atomic(partial / "reference.py", source);
  write_file_atomic(partial / kRecord, record.dump(2) + "\n");
  if (!fs::exists(folder)) {
    fs::rename(partial, folder);
    return;
  }
  fs::remove(folder / kRecord);
  for (const char* file : kFiles) {
    fs::rename(partial / file, folder / file);
  }
  fs::remove_all(partial);
}

void make_task(const Describe& describe, const Module& named, const ImportOptions& options,
               Imported& result) {
  const std::string source = read_file(named.file, kMostSourceBytes);
  const KnownModule known = known_module(source);
  Module module = named;
  module.origin.mode = known.mode.value_or(named.origin.mode);
  const json settings = settings_of(module, options);
  if (const std::optional<json> record = record_of(module.folder, source, settings)) {
    result.flags = tasks::load_task(module.folder).source.flags;
    result.wrong = count_wrong(record->value("mutants", json::array()));
    result.was_there = true;
    return;
  }
  const json description = description_of(describe, source, module, known, options);
  const std::string toml = module_task_toml(description, module.origin);
  tasks::parse_task({toml, "", "", source}, (module.folder / "task.toml").string());
  const json mutants = description.value("mutants", json::array());
  put_folder(module.folder, toml, source, {{"settings", settings}, {"mutants", mutants}});
  result.flags = module_flags(description);
  result.wrong = count_wrong(mutants);
}

} // namespace

Imported import_module(const Describe& describe, const Module& module,
                       const ImportOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Imported result;
  result.folder = module.folder;
  try {
    make_task(describe, module, options, result);
  } catch (const std::exception& error) {
    result.refused = error.what();
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

std::vector<Imported> import_all(const std::vector<Describe>& children,
                                 const std::vector<Module>& modules, const ImportOptions& options,
                                 const ModuleDone& done, const std::function<bool()>& cancelled) {
  std::vector<std::optional<Imported>> results(modules.size());
  std::atomic<std::size_t> next{0};
  std::mutex telling;
  const auto work = [&](const Describe& describe) {
    for (std::size_t taken = next++; taken < modules.size() && !cancelled(); taken = next++) {
      const std::size_t i = modules.size() - 1 - taken;
      Imported result = import_module(describe, modules[i], options);
      if (!result.refused.empty() && cancelled()) {
        return; // its child was killed
      }
      const std::lock_guard lock(telling);
      results[i] = std::move(result);
      done(i, *results[i]);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (const Describe& describe : children) {
      threads.emplace_back([&work, &describe] { work(describe); });
    }
  }
  std::vector<Imported> finished;
  for (std::optional<Imported>& result : results) {
    if (result) {
      finished.push_back(std::move(*result));
    }
  }
  return finished;
}

} // namespace winnow::harness
