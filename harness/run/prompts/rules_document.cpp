#include "harness/run/prompts/rules_document.h"

#include "agents/prompts/prompts.h"
#include "harness/run/prompts/prompt_facts.h"
#include "tasks/task/baseline.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

agents::ProposalContext context_of(const tasks::Task* task,
                                   const evaluators::DeviceReport& device) {
  agents::ProposalContext context;
  context.task = task;
  context.facts = device.facts;
  context.device = device.kind;
  context.device_name = device.name;
  if (task == nullptr) {
    return context;
  }
  if (!task->baseline.empty()) {
    context.baseline = agents::Attempt{0, task->baseline, {}, {}};
  }
  if (device.facts.peak_bytes_per_second > 0) {
    add_prompt_facts(context);
  }
  return context;
}

/// What holds for kernels on the command line, and for no kernel of a search.
std::string remarks(const std::string& named, const std::string& note) {
  const std::string task = named.empty() ? "TASK" : named;
  std::string text = fmt::format(
      "# On the command line\n\n"
      "`winnow eval {0} FILE...` judges kernel files with the first value of each parameter. "
      "`winnow tune {0} FILE` searches the other values. `winnow tasks template {0} FILE` writes a "
      "kernel file to begin with.\n",
      task);
  text += named.empty() ? "`winnow rules TASK` adds the task, its shapes and its bounds; "
                          "`winnow tasks list` has the names.\n"
                        : "";
  return text + (note.empty() ? "" : note + "\n");
}

} // namespace

nlohmann::json rules_document(std::optional<tasks::Task> task,
                              const evaluators::DeviceReport& device, const std::string& named,
                              const std::string& note) {
  if (task) {
    tasks::take_baseline_of(*task, device.kind);
  }
  const std::string text =
      remarks(named, note) + "\n" +
      agents::PromptTemplates().rules(context_of(task ? &*task : nullptr, device));
  return {{"schema", "winnow.rules"},
          {"version", 1},
          {"task", task ? nlohmann::json(task->name) : nlohmann::json()},
          {"device", device.kind},
          {"device_name", device.name},
          {"note", note},
          {"text", text}};
}

} // namespace winnow::harness
