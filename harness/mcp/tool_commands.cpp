#include "harness/mcp/tool_commands.h"

#include "base/error.h"

#include <utility>

namespace winnow::harness {
namespace {

std::string given_text(const nlohmann::json& arguments, const char* name) {
  return arguments.value(name, std::string());
}

/// Adds "--NAME=VALUE", which may begin with a dash, if the argument was given.
void add_valued(ToolCommand& command, const nlohmann::json& arguments, const char* name) {
  const auto value = arguments.find(name);
  if (value != arguments.end()) {
    const std::string text = value->is_string() ? value->get<std::string>() : value->dump();
    command.options.push_back(std::string("--").append(name).append("=").append(text));
  }
}

void add_flag(ToolCommand& command, const nlohmann::json& arguments, const char* name,
              const char* option) {
  if (arguments.value(name, false)) {
    command.options.emplace_back(option);
  }
}

} // namespace

ToolCommand list_tasks_command(const nlohmann::json& /*arguments*/, KernelFiles& /*files*/) {
  return {{"tasks", "list"}, {"--json"}, {}};
}

ToolCommand describe_task_command(const nlohmann::json& arguments, KernelFiles& /*files*/) {
  return {{"tasks", "show"}, {"--json"}, {given_text(arguments, "task")}};
}

ToolCommand rules_command(const nlohmann::json& arguments, KernelFiles& /*files*/) {
  ToolCommand command{{"rules"}, {}, {}};
  add_valued(command, arguments, "device");
  add_valued(command, arguments, "gpu");
  if (arguments.contains("task")) {
    command.operands.push_back(given_text(arguments, "task"));
  }
  return command;
}

ToolCommand evaluate_command(const nlohmann::json& arguments, KernelFiles& files) {
  ToolCommand command{{"eval"}, {"--json"}, {given_text(arguments, "task")}};
  if (!arguments.value("full", false)) {
    command.options.emplace_back("--brief");
  }
  add_valued(command, arguments, "device");
  add_valued(command, arguments, "arch");
  add_valued(command, arguments, "gpu");
  add_flag(command, arguments, "compile_only", "--compile-only");
  add_flag(command, arguments, "no_timing", "--no-timing");
  add_flag(command, arguments, "no_promotion", "--no-promotion");
  for (const nlohmann::json& kernel : arguments.value("kernels", nlohmann::json::array())) {
    command.operands.push_back(files.word_of(kernel));
  }
  for (const nlohmann::json& file : arguments.value("files", nlohmann::json::array())) {
    command.operands.push_back(KernelFiles::word_of_file(file.get<std::string>()));
  }
  if (command.operands.size() == 1) { // the task alone
    throw UsageError("there is no kernel to judge",
                     R"(give kernels, such as [{"name": "tiled.cu", "text": "..."}], or files)");
  }
  return command;
}

ToolCommand profile_command(const nlohmann::json& arguments, KernelFiles& files) {
  ToolCommand command{{"profile"}, {"--json"}, {given_text(arguments, "task")}};
  add_valued(command, arguments, "device");
  add_valued(command, arguments, "counters");
  for (const nlohmann::json& one : arguments.value("parameters", nlohmann::json::array())) {
    command.options.push_back("--param=" + one.get<std::string>());
  }
  command.operands.push_back(files.word_of(arguments["kernel"]));
  return command;
}

ToolCommand race_command(const nlohmann::json& arguments, KernelFiles& files) {
  ToolCommand command{{"race"}, {"--json"}, {given_text(arguments, "task")}};
  add_valued(command, arguments, "device");
  command.operands.push_back(files.word_of(arguments["a"]));
  command.operands.push_back(files.word_of(arguments["b"]));
  return command;
}

ToolCommand leaderboard_command(const nlohmann::json& arguments, KernelFiles& /*files*/) {
  ToolCommand command{{"leaderboard"}, {"--json"}, {}};
  add_valued(command, arguments, "task");
  add_valued(command, arguments, "device");
  add_valued(command, arguments, "top");
  return command;
}

ToolCommand get_kernel_command(const nlohmann::json& arguments, KernelFiles& /*files*/) {
  const std::string part = arguments.value("part", std::string("source"));
  return {{"show"}, {part == "record" ? "--json" : "--" + part}, {given_text(arguments, "id")}};
}

} // namespace winnow::harness
