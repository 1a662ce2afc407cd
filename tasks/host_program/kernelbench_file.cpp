#include "tasks/host_program/kernelbench_file.h"

#include "base/error.h"
#include "base/text.h"
#include "tasks/host_program/extension_data.h"
#include "tasks/host_program/program_text.h"

#include <algorithm>
#include <regex>
#include <set>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

/// The names that the file's top level defines. Imports count only if `with_imports`.
std::set<std::string> defined_names(const std::string& source, bool with_imports) {
  static const std::regex kDefinition(R"(^(?:def|class)\s+(\w+).*)");
  static const std::regex kAssignment(R"(^(\w+(?:\s*[,=]\s*\w+)*)\s*(?::[^=]*)?=[^=].*)");
  static const std::regex kImport(R"(^(?:from\s+\S+\s+)?import\s+(.*))");
  static const std::regex kWord(R"(\w+)");
  std::set<std::string> names;
  for (const std::string_view view : split_lines(source)) {
    const std::string line(view.substr(0, 400)); // std::regex recurses for each character
    std::smatch found;
    if (std::regex_match(line, found, kDefinition) || std::regex_match(line, found, kAssignment) ||
        (with_imports && std::regex_match(line, found, kImport))) {
      const std::string part = found[1];
      for (std::sregex_iterator word(part.begin(), part.end(), kWord), end; word != end; ++word) {
        names.insert(word->str());
      }
    }
  }
  return names;
}

void check_names(const HostProgram& program) {
  const Task& task = program.task;
  const std::string own = "SUPPORT = \nKERNEL = \n" + extension_data(program) +
                          support_text({"host_program/call.py.in"}) +
                          support_text({"host_program/model_new.py.in"});
  const std::set<std::string> taken = defined_names(own, false);
  for (const std::string& name : defined_names(task.reference_python, true)) {
    if (taken.contains(name)) {
      throw UsageError(fmt::format("the module of task {} has the name {}, which the exported file "
                                   "needs for something else",
                                   task.name, name),
                       "rename it in the module; or use `winnow export kernel`, which keeps the "
                       "two apart");
    }
  }
}

/// KernelBench cuts its comments off in this way, too, also in the C++ text.
std::string without_comment(std::string_view line) {
  line = line.substr(0, line.find('#'));
  return std::string(line.substr(0, line.find("//")));
}

} // namespace

std::string kernelbench_file(const HostProgram& program) {
  const Task& task = program.task;
  if (!task.torch) {
    throw UsageError(fmt::format("task {} has no PyTorch module as its reference", task.name),
                     "this command is for imported tasks (`winnow tasks import kernelbench`, "
                     "`winnow tasks new --from`); `winnow export kernel` writes a PyTorch "
                     "extension for any task");
  }
  if (!defined_names(task.reference_python, true).contains("Model")) {
    throw UsageError(fmt::format("reference.py of task {} has no class Model", task.name),
                     "for the task of a definition use `winnow export solution`");
  }
  check_names(program);
  std::string module = task.reference_python;
  module += module.ends_with('\n') ? "" : "\n";
  return head_text(program, "# ") +
         fmt::format("# The problem as it is, and class ModelNew with the kernel.\n\n{}\n\n"
                     "# ---- the kernel\n",
                     module) +
         std::string(trim(extension_call(program, ""))) + "\n\n\n" +
         std::string(trim(support_text({"host_program/model_new.py.in"}))) + "\n";
}

std::string kernelbench_file_name(const Task& task) {
  static const std::regex kProblem(R"(level(\d{1,3})[/\\](\d{1,6})_)");
  std::smatch found;
  if (std::regex_search(task.source.origin, found, kProblem)) {
    return fmt::format("level_{}_problem_{}_sample_0_kernel.py", found[1].str(), found[2].str());
  }
  return task.name + "_kernel.py";
}

std::vector<std::string> kernelbench_notes(const Task& task, const std::string& text) {
  std::vector<std::string> notes;
  const std::vector<std::string_view> lines = split_lines(text);
  for (const char* word : {"pass", "try", "except"}) {
    const auto at = std::find_if(lines.begin(), lines.end(), [&](std::string_view line) {
      return has_word(without_comment(line), word);
    });
    if (at != lines.end()) {
      notes.push_back(fmt::format("KernelBench's static check may refuse the word '{}' in line {}; "
                                  "then run its script with check_kernel=False",
                                  word, at - lines.begin() + 1));
    }
  }
  if (task.torch && !task.torch->training) {
    notes.emplace_back("the task runs the module in mode eval, KernelBench in mode train: layers "
                       "such as BatchNorm give other results there");
  }
  if (is_scaled(task.source.flags)) {
    notes.emplace_back("the task's shapes are smaller than KernelBench's: the kernel was not "
                       "judged and not tuned at KernelBench's sizes");
  }
  return notes;
}

} // namespace winnow::tasks
