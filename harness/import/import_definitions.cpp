#include "harness/import/import_definitions.h"

#include "agents/json/json_text.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "harness/import/safetensors.h"
#include "tasks/parse/task_parse.h"
#include "tasks/task/task.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kMostDefinitionBytes = 16U << 20U;
constexpr const char* kDefinition = "definition.json";

bool is_plain_name(const std::string& name) {
  return !name.empty() && name.find('/') == std::string::npos && name.front() != '.';
}

/// FlashInfer-Trace has two trees, definitions/ and workloads/; SOL-ExecBench a folder for each.
void find_workloads(DefinitionFile& file) {
  fs::path beside = file.file.parent_path() / "workload.jsonl";
  fs::path other_tree;
  file.root = file.file.parent_path();
  fs::path so_far;
  for (const fs::path& part : file.file) {
    const bool is_tree = part == "definitions";
    file.root = is_tree ? so_far : file.root;
    other_tree /= is_tree ? fs::path("workloads") : part;
    so_far /= part;
  }
  other_tree.replace_extension(".jsonl");
  if (fs::is_regular_file(beside)) {
    file.workloads = beside;
  } else if (other_tree.parent_path() != file.file.parent_path() &&
             fs::is_regular_file(other_tree)) {
    file.workloads = other_tree;
  }
}

/// nullopt: a JSON file that speaks of something else.
std::optional<DefinitionFile> definition_file(const fs::path& path, const fs::path& to) {
  DefinitionFile file;
  file.file = path;
  file.folder = to / path.parent_path().filename() / path.stem();
  try {
    const std::string text = read_file(path, kMostDefinitionBytes);
    const json fields = agents::parse_untrusted_json(text);
    if (!fields.is_object() || !fields.contains("axes") || !fields.contains("inputs")) {
      return std::nullopt;
    }
    const std::string name = agents::text_member(fields, "name", path.stem().string());
    const std::string op = agents::text_member(fields, "op_type", "other");
    if (!is_plain_name(name) || !is_plain_name(op)) {
      file.wrong = "its name or op type is no file name";
    } else {
      file.folder = to / op / name;
    }
  } catch (const Error& error) {
    file.wrong = error.what();
  }
  find_workloads(file);
  return file;
}

std::string check_inputs(const DefinitionFile& file, const json& inputs, int& missing) {
  for (const auto& [name, input] : inputs.items()) {
    if (input.value("type", "") != "safetensors") {
      continue;
    }
    const fs::path path = file.root / input.value("path", "");
    if (!fs::is_regular_file(path)) {
      ++missing;
      continue;
    }
    const std::string mistake = safetensors_mistake(path, input.value("tensor_key", name));
    if (!mistake.empty()) {
      return fmt::format("{} {}", path.string(), mistake);
    }
  }
  return "";
}

/// The text of one workload; empty, with a note, if it cannot be used.
std::string workload(const DefinitionFile& file, std::string_view line, int& missing,
                     std::string& wrong) {
  const json row = agents::json_or_null(line);
  const json fields = row.is_object() ? row.value("workload", row) : json();
  if (!fields.is_object() || !fields.contains("axes") || !fields["axes"].is_object()) {
    wrong = "is no workload in JSON";
    return "";
  }
  const json inputs = fields.value("inputs", json::object());
  wrong = check_inputs(file, inputs, missing);
  return wrong.empty() ? json_line({{"axes", fields["axes"]}, {"inputs", inputs}}) : "";
}

json description_of(const Describe& describe, const std::string& definition,
                    const std::vector<std::string>& workloads, const ImportOptions& options) {
  return describe({{"do", "definition"},
                   {"definition", definition}, // as text: the order of its inputs counts
                   {"workloads", workloads},
                   {"memory_bytes", options.memory_bytes},
                   {"device", options.device_kind == "cpu" ? "cpu" : "cuda"}});
}

bool was_made(const DefinitionFile& file, const std::string& definition) {
  return fs::exists(file.folder / "task.toml") && fs::exists(file.folder / kDefinition) &&
         read_file(file.folder / kDefinition, kMostDefinitionBytes) == definition;
}

void write_task(const Describe& describe, const DefinitionFile& file, const std::string& definition,
                const ImportOptions& options, Imported& result) {
  const json fields = json::parse(definition);
  const auto reference = fields.find("reference");
  if (reference == fields.end() || !reference->is_string()) {
    throw Error("the definition has no 'reference' text");
  }
  const json description =
      description_of(describe, definition, read_workloads(file, result.notes), options);
  const std::string toml =
      module_task_toml(description, {"definition " + fields.value("name", ""), "eval"});
  const std::string source = reference->get<std::string>();
  tasks::parse_task({toml, "", "", source}, (file.folder / "task.toml").string());
  fs::create_directories(file.folder);
  write_file_atomic(file.folder / "reference.py", source);
  write_file_atomic(file.folder / kDefinition, definition);
  write_file_atomic(file.folder / "task.toml", toml);
  result.flags = module_flags(description);
}

} // namespace

std::vector<std::string> read_workloads(const DefinitionFile& file,
                                        std::vector<std::string>& notes) {
  std::vector<std::string> found;
  if (file.workloads.empty()) {
    notes.emplace_back("it has no workloads, so Winnow chooses sizes");
    return found;
  }
  int number = 0, missing = 0;
  const std::string text = read_file(file.workloads, kMostDefinitionBytes);
  for (const std::string_view line : split_lines(text)) {
    ++number;
    if (trim(line).empty()) {
      continue;
    }
    std::string wrong;
    std::string one = workload(file, line, missing, wrong);
    if (wrong.empty()) {
      found.push_back(std::move(one));
    } else {
      notes.push_back(fmt::format("line {} of {} is left out: {}", number,
                                  file.workloads.filename().string(), wrong));
    }
  }
  if (missing > 0) {
    notes.push_back(fmt::format("{} safetensors files are missing; Winnow makes inputs of its own, "
                                "so a workload gives sizes and numbers only",
                                missing));
  }
  return found;
}

std::vector<DefinitionFile> definition_files(const fs::path& path, const fs::path& to) {
  std::vector<fs::path> paths;
  if (fs::is_directory(path)) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
      if (entry.is_regular_file() && entry.path().extension() == ".json") {
        paths.push_back(entry.path());
      }
    }
  } else if (fs::is_regular_file(path)) {
    paths.push_back(path);
  }
  for (fs::path& one : paths) {
    one = fs::absolute(one).lexically_normal(); // the folder `definitions` may be above
  }
  std::sort(paths.begin(), paths.end());
  std::vector<DefinitionFile> files;
  for (const fs::path& one : paths) {
    if (auto file = definition_file(one, to)) {
      files.push_back(std::move(*file));
    }
  }
  if (files.empty()) {
    throw UsageError(path.string() + ": no definitions here",
                     "name a definition of FlashInfer-Trace or SOL-ExecBench (JSON with axes, "
                     "inputs, outputs and reference), or a folder of them");
  }
  return files;
}

Imported import_definition(const Describe& describe, const DefinitionFile& file,
                           const ImportOptions& options) {
  Imported result;
  result.folder = file.folder;
  result.refused = file.wrong;
  if (!file.wrong.empty()) {
    return result;
  }
  try {
    const std::string definition = read_file(file.file, kMostDefinitionBytes);
    if (was_made(file, definition)) {
      result.flags = tasks::load_task(file.folder).source.flags;
      result.was_there = true;
    } else {
      write_task(describe, file, definition, options, result);
    }
  } catch (const std::exception& error) {
    result.refused = error.what();
  }
  return result;
}

} // namespace winnow::harness
