#include "base/error.h"
#include "base/json_dump.h"
#include "evaluators/device/vendors/gpu_vendors.h"
#include "evaluators/host/devices.h"
#include "harness/commands/commands.h"
#include "harness/commands/judging.h"
#include "harness/machine/target_gpu.h"
#include "harness/named/named_task.h"
#include "harness/run/prompts/rules_document.h"
#include "tasks/task/task.h"

#include <iostream>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

struct RulesCommand {
  std::string task; ///< empty: what holds for all tasks
  std::string device = "best";
  std::string gpu;
  bool json = false;
  ServerOptions server;
};

/// A device with what a reader must know about its numbers.
struct DeviceOfRules {
  evaluators::DeviceReport device;
  std::string note;
};

/// A GPU that this machine does not have.
DeviceOfRules absent_gpu(const RulesCommand& command) {
  TargetGpu target = target_gpu(command.device, command.gpu, "");
  if (target.is_model) {
    return {target.device, "The numbers of this GPU are those of its architecture and of data "
                           "sheets. Nothing was measured here."};
  }
  target.device.facts.sm_count = 0; // differs from model to model
  const std::string note = fmt::format(
      "This machine has no such GPU: these are the limits of {}. Numbers that differ from model to "
      "model (`sm_count`, `l2_bytes`, peaks) are left out; `winnow rules --gpu H100` has them.",
      target.device.name);
  return {target.device, note};
}

DeviceOfRules device_of_rules(const RulesCommand& command) {
  if (!command.gpu.empty()) {
    return absent_gpu(command);
  }
  try {
    return {evaluators::select_device(command.device), ""};
  } catch (const DeviceUnavailable&) {
    if (evaluators::find_gpu_vendor(command.device) == nullptr) {
      throw;
    }
    return absent_gpu(command);
  }
}

nlohmann::json document_here(const RulesCommand& command) {
  const DeviceOfRules chosen = device_of_rules(command);
  return rules_document(command.task.empty()
                            ? std::nullopt
                            : std::optional(named_task(command.task, "", TaskUse::Show)),
                        chosen.device, command.task, chosen.note);
}

ExitCode rules(const RulesCommand& command) {
  const nlohmann::json document =
      command.server.server.empty()
          ? document_here(command)
          : JudgeServer(command.server).get("/v1/reports/rules?task=" + url_part(command.task));
  std::cout << (command.json ? json_document(document) : document.at("text").get<std::string>());
  return ExitCode::Done;
}

} // namespace

void add_rules(CLI::App& app, Action& chosen) {
  const auto [sub, command] = add_command(
      app, chosen, "rules",
      "The rules for the author of a kernel, as prompts have them: how kernels are judged, the "
      "form of a kernel file, the task, the device and its bounds",
      rules);
  sub.add_option("TASK", command.task,
                 std::string(kTaskHelp) + "; without one: what holds for all tasks");
  CLI::Option* device = sub.add_option(
      "--device", command.device,
      "best, " + tasks::device_words() +
          ", or one device such as cuda:0. A kind of GPU that this machine lacks: the "
          "limits of its usual architecture");
  CLI::Option* gpu = sub.add_option(
      "--gpu", command.gpu,
      "a model of GPU that this machine need not have, such as H100: its limits, and "
      "bounds by the peaks of data sheets");
  sub.add_flag("--json", command.json, "one JSON document, schema winnow.rules, version 1");
  add_server_options(sub, command.server, {device, gpu});
}

} // namespace winnow::harness
