#include "base/error.h"
#include "base/files.h"
#include "harness/commands/commands.h"
#include "harness/commands/judging.h"
#include "harness/named/named_task.h"
#include "harness/report/task_report.h"
#include "tasks/catalogue.h"
#include "tasks/starter_file.h"
#include "tasks/task/task.h"

#include <filesystem>
#include <iostream>

#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

struct TasksCommand {
  ServerOptions server;
  std::string task;
  std::string file; ///< of the starter file; empty: stdout
  bool json = false;
};

ExitCode list_catalogue(const TasksCommand& command) {
  const nlohmann::json document =
      command.server.server.empty() ? task_list_json(tasks::find_tasks(tasks::find_catalogue(), {}))
                                    : JudgeServer(command.server).get("/v1/tasks");
  std::cout << (command.json ? document.dump(2) + "\n" : task_list_text(document));
  return ExitCode::Done;
}

ExitCode show_task(const TasksCommand& command) {
  const nlohmann::json document =
      command.server.server.empty()
          ? task_json(named_task(command.task, "", TaskUse::Show))
          : JudgeServer(command.server).get("/v1/tasks/" + url_part(command.task));
  std::cout << (command.json ? document.dump(2) + "\n" : task_text(document));
  return ExitCode::Done;
}

ExitCode write_template(const TasksCommand& command) {
  const std::string text = tasks::starter_file(named_task(command.task, "", TaskUse::Show));
  if (command.file.empty()) {
    std::cout << text;
    return ExitCode::Done;
  }
  if (std::filesystem::exists(command.file)) {
    throw UsageError(command.file + " exists already", "name another file");
  }
  write_file_atomic(command.file, text);
  return ExitCode::Done;
}

} // namespace

void add_tasks(CLI::App& app, Action& chosen) {
  CLI::App* tasks_command = app.add_subcommand(
      "tasks", "List, show and test the tasks that kernels are written for, and begin a kernel");
  tasks_command->require_subcommand(1);
  {
    const auto [sub, command] =
        add_command(*tasks_command, chosen, "list", "Every task of the catalogue", list_catalogue);
    sub.add_flag("--json", command.json, "one JSON document, schema winnow.tasks, version 1");
    add_server_options(sub, command.server, {});
  }
  {
    const auto [sub, command] = add_command(
        *tasks_command, chosen, "show",
        "One task: operation, tensors, tolerance, shapes (hidden ones are only counted)",
        show_task);
    sub.add_option("TASK", command.task, "name, category/name or folder")->required();
    sub.add_flag("--json", command.json, "one JSON document, schema winnow.task, version 2");
    add_server_options(sub, command.server, {});
  }
  const auto [sub, command] = add_command(
      *tasks_command, chosen, "template",
      "Write a kernel file to begin with: the plan with the task's tensors as arguments, and a "
      "kernel that compiles and computes nothing",
      write_template);
  sub.add_option("TASK", command.task, "name, category/name or folder")->required();
  sub.add_option("FILE", command.file, "file to write (default: stdout)");
  add_tasks_import(*tasks_command, chosen);
  add_selftest(*tasks_command, chosen);
}

} // namespace winnow::harness
