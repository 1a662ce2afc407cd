#include "agents/json/json_text.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "harness/import/import_modules.h"
#include "harness/import/yaml_text.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kMostTextBytes = 1U << 20U;

/// The folders below `root` that hold `file`, in order; hidden ones are left out.
std::vector<fs::path> folders_with(const fs::path& root, const std::string& file) {
  std::vector<fs::path> found;
  if (!fs::is_directory(root)) {
    return found;
  }
  const fs::path start = fs::absolute(root).lexically_normal();
  if (is_file(start / file)) {
    found.push_back(start.has_filename() ? start : start.parent_path());
  }
  for (auto entry =
           fs::recursive_directory_iterator(start, fs::directory_options::skip_permission_denied);
       entry != fs::recursive_directory_iterator(); ++entry) {
    if (!entry->is_directory()) {
      continue;
    }
    if (entry->path().filename().string().starts_with('.')) {
      entry.disable_recursion_pending();
    } else if (is_file(entry->path() / file)) {
      found.push_back(entry->path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<Module> or_throw(std::vector<Module> found, const fs::path& path,
                             const std::string& what, const std::string& remedy) {
  if (found.empty()) {
    throw UsageError(path.string() + ": no problems of " + what + " here", remedy);
  }
  return found;
}

/// A module whose request `make` gives; what it throws is why there is no task.
template <typename Make>
Module stated(const fs::path& file, const fs::path& folder, const ModuleOrigin& origin,
              const Make& make) {
  StatedProblem problem;
  try {
    if (!is_file(file)) {
      throw Error(file.filename().string() + " is missing");
    }
    const json request = make();
    problem.request = request.dump();
  } catch (const std::exception& error) {
    problem.wrong = error.what();
  }
  return {file, folder, origin, std::move(problem)};
}

std::string text_of(const fs::path& file) {
  if (!is_file(file)) {
    throw Error(file.filename().string() + " is missing");
  }
  return read_file(file, kMostTextBytes);
}

/// The first line of a description.
std::string first_line(const json& fields) {
  const std::string text = agents::text_member(fields, "description");
  for (const std::string_view line : split_lines(text)) {
    if (!trim(line).empty()) {
      return std::string(trim(line));
    }
  }
  return {};
}

/// The sizes of `key`; none if the file has no such list.
json rows_of(const json& fields, const char* key, const fs::path& file) {
  const json rows = fields.value(key, json::array());
  const bool are_tables =
      rows.is_array() &&
      std::all_of(rows.begin(), rows.end(), [](const json& row) { return row.is_object(); });
  if (!rows.is_null() && !are_tables) {
    throw Error(fmt::format("{}: '{}' is no list of tables such as {{\"size\": 1024, \"seed\": 1}}",
                            file.string(), key));
  }
  return rows.is_null() ? json::array() : rows;
}

json gpumode_request(const fs::path& folder) {
  const fs::path file = folder / "task.yml";
  const json fields = yaml_as_json(text_of(file), file.string());
  if (!fields.is_object()) {
    throw Error(file.string() + ": is no table with 'tests' and 'benchmarks'");
  }
  return {{"form", "gpumode"},
          {"name", folder.filename().string()},
          {"title", first_line(fields)},
          {"tests", rows_of(fields, "tests", file)},
          {"benchmarks", rows_of(fields, "benchmarks", file)}};
}

/// {"pmpp_v2/conv2d_py": {"leaderboard": "conv2d_v2", "gpus": ["H100"]}} from the files beside the
/// sets of problems. What is no list of problems says nothing.
void read_boards(const fs::path& file, std::map<std::string, json>& boards) {
  try {
    const json fields = yaml_as_json(read_file(file, kMostTextBytes), file.string());
    for (const json& problem : agents::array_member(fields, "problems")) {
      const std::string directory = agents::text_member(problem, "directory");
      const std::string name = agents::text_member(problem, "name");
      if (!directory.empty() && !name.empty()) {
        json gpus = json::array();
        for (const json& gpu : agents::array_member(problem, "gpus")) {
          gpus.push_back(gpu.is_string() ? gpu : json(gpu.dump()));
        }
        boards.emplace(directory, json{{"leaderboard", name}, {"gpus", std::move(gpus)}});
      }
    }
  } catch (const std::exception&) { // the problems are there all the same
  }
}

std::map<std::string, json> boards_beside(const fs::path& sets) {
  std::map<std::string, json> boards;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(sets)) {
    if (entry.is_regular_file() && entry.path().extension() == ".yaml") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    read_boards(file, boards);
  }
  return boards;
}

/// One pass of a task of robust-kbench: forward or backward.
Module robust_pass(const fs::path& folder, const std::string& pass, const fs::path& to) {
  const fs::path parent = folder.parent_path().filename();
  const bool is_port = parent.string().starts_with("level_");
  const std::string group = is_port ? parent.string() : pass;
  const std::string name = folder.filename().string();
  const fs::path file = folder / fmt::format("func_{}.py", pass);
  return stated(
      file, to / group / name,
      {fmt::format("robust-kbench {}/{}", (is_port ? parent / name : fs::path(name)).string(),
                   file.filename().string()),
       "train"},
      [&]() -> json {
        return {{"form", "robust-kbench"},
                {"name", name},
                {"config", text_of(folder / fmt::format("config_{}.json", pass))},
                {"backward", pass == "backward"}};
      });
}

/// "hard" of benchmarks/hard/problems-h100/01_fp8_gemm; "KernelBench-Hard" of its own repository.
std::string deck_of(const fs::path& folder) {
  const fs::path set = folder.parent_path();
  const fs::path deck = set.parent_path();
  return set.filename().string().starts_with("problems") ? deck.filename().string()
                                                         : set.filename().string();
}

} // namespace

std::vector<Module> gpumode_problems(const fs::path& path, const fs::path& to) {
  std::vector<Module> found;
  std::map<fs::path, std::map<std::string, json>> boards; // by the folder of all sets
  for (const fs::path& folder : folders_with(path, "task.yml")) {
    const fs::path set = folder.parent_path();
    const auto [known, is_new] = boards.try_emplace(set.parent_path());
    if (is_new) {
      known->second = boards_beside(set.parent_path());
    }
    const std::string name = (set.filename() / folder.filename()).string();
    Module module = stated(folder / "reference.py", to / set.filename() / folder.filename(),
                           {"GPU MODE " + name, "eval"}, [&] { return gpumode_request(folder); });
    const auto board = known->second.find(name);
    module.problem->board =
        (board != known->second.end()
             ? board->second
             : json{{"leaderboard", folder.filename().string()}, {"gpus", json::array()}})
            .dump();
    found.push_back(std::move(module));
  }
  return or_throw(std::move(found), path, "GPU MODE",
                  "name a checkout of gpu-mode/reference-kernels, with files such as "
                  "problems/pmpp_v2/conv2d_py/task.yml, or a folder of it");
}

std::vector<Module> robust_problems(const fs::path& checkout, const fs::path& to) {
  std::vector<Module> found;
  for (const char* pass : {"forward", "backward"}) {
    for (const fs::path& folder : folders_with(checkout, fmt::format("func_{}.py", pass))) {
      found.push_back(robust_pass(folder, pass, to));
    }
  }
  return or_throw(std::move(found), checkout, "robust-kbench",
                  "name a checkout of SakanaAI/robust-kbench, with files such as "
                  "tasks/layernorm/func_forward.py, or a folder of it");
}

std::vector<Module> deck_problems(const fs::path& path, const fs::path& to) {
  std::vector<Module> found;
  for (const fs::path& folder : folders_with(path, "problem.yaml")) {
    const std::string deck = deck_of(folder), name = folder.filename().string();
    found.push_back(stated(folder / "reference.py", to / deck / name,
                           {fmt::format("kernelbench.com {}/{}", deck, name), "eval"},
                           [&]() -> json {
                             return {{"form", "kernelbench.com"},
                                     {"name", name},
                                     {"shapes", text_of(folder / "shapes.py")}};
                           }));
  }
  return or_throw(std::move(found), path, "kernelbench.com",
                  "name a folder with problems, such as benchmarks/hard/problems-h100, or one "
                  "problem with problem.yaml, reference.py and shapes.py");
}

} // namespace winnow::harness
