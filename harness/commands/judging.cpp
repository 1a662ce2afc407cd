#include "harness/commands/judging.h"

#include "base/error.h"
#include "evaluators/host/devices.h"
#include "harness/client/server_devices.h"
#include "harness/client/server_evaluations.h"
#include "harness/config/config_keys.h"
#include "harness/machine/machine.h"
#include "tasks/proof.h"
#include "tasks/task/baseline.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace winnow::harness {

std::string one_device() {
  return "best, " + tasks::device_words() + ", or one device such as cuda:0";
}

std::string several_devices() {
  return "best, " + tasks::device_words() + ", or a list such as cuda:0,cuda:1";
}

void add_isolation_option(CLI::App& sub, std::optional<process::Isolation>& level) {
  sub.add_option_function<std::string>(
         "--require-isolation",
         [&level](const std::string& text) { level = process::isolation_from_string(text); },
         find_config_key("evaluation", "require_isolation")->help)
      ->check(CLI::IsMember({"rlimits", "landlock+seccomp", "bubblewrap"}));
}

std::vector<CLI::Option*> add_judging_options(CLI::App& sub, JudgingOptions& options,
                                              const std::string& devices) {
  const std::size_t before = sub.get_options().size();
  sub.add_option("--device", options.evaluation.device, devices);
  sub.add_option(
         "--seed", options.evaluation.seed,
         "seed that an earlier evaluation has shown, to repeat that evaluation; boards do not "
         "rank a repeated evaluation (default: a new seed for each evaluation)")
      ->check(CLI::Range(std::uint64_t{1}, std::numeric_limits<std::uint64_t>::max()));
  add_duration(sub, "--timeout", options.evaluation.run_timeout, "wall-clock limit of one stage");
  add_duration(sub, "--compile-timeout", options.evaluation.compile_timeout,
               "wall-clock limit of one compiler");
  add_isolation_option(sub, options.evaluation.require_isolation);
  add_broker_options(sub, options.broker);
  std::vector<CLI::Option*> all = sub.get_options();
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(before));
  return all;
}

void add_broker_options(CLI::App& sub, BrokerOptions& options) {
  const auto add = [&sub](const char* name, std::string& value, const char* type) {
    const ConfigKey& key = *find_config_key("broker", name);
    sub.add_option(key.option, value, key.help)->type_name(type);
  };
  add("url", options.url, "URL");
  add("pool", options.pool, "TEXT");
  add("credentials", options.credentials, "FILE");
  add("ca_file", options.ca_file, "FILE");
  add("certificate_file", options.certificate_file, "FILE");
  add("key_file", options.key_file, "FILE");
}

void add_server_options(CLI::App& sub, ServerOptions& options,
                        const std::vector<CLI::Option*>& here_only) {
  CLI::Option* server =
      sub.add_option("--server", options.server,
                     "a `winnow serve --judge` that answers instead of this machine: "
                     "http://HOST:PORT, the path of its socket, or the folder of its mailbox "
                     "(default: the variable WINNOW_SERVER, unless another option needs this "
                     "machine)");
  sub.add_option("--token-file", options.token_file,
                 "file with the token for the server (default: the variable WINNOW_TOKEN)");
  for (CLI::Option* option : here_only) {
    option->excludes(server);
  }
  sub.parse_complete_callback([&options, here_only] {
    const bool is_here = std::any_of(here_only.begin(), here_only.end(),
                                     [](const CLI::Option* option) { return option->count() > 0; });
    const char* variable = std::getenv("WINNOW_SERVER");
    if (options.server.empty() && !is_here && variable != nullptr) {
      options.server = variable;
    }
  });
}

JudgingPlace::JudgingPlace(const JudgingOptions& options, const std::string& task,
                           CommandStore& store)
    : options_(options), remarks_(std::make_shared<ServerRemarks>()) {
  if (options.server.server.empty()) {
    task_ = named_task(task, store);
    return;
  }
  JudgeServer server(options.server);
  served_ = served_task(server, task);
  task_.name = served_->task;
  store.look_up_at(options.server);
}

std::unique_ptr<evaluators::DevicePool>
JudgingPlace::open(const evaluators::EvaluationOptions& resolved, bool only_one) const {
  return served_ ? server_devices(options_.server, *served_, remarks_)
                 : open_devices(options_, resolved, only_one);
}

std::string JudgingPlace::versus(std::string_view device_kind) const {
  return served_ ? served_->versus : std::string(tasks::speedup_versus(task_, device_kind));
}

std::function<LightShares(const tasks::Evaluation&)>
JudgingPlace::light(const evaluators::DevicePool& devices,
                    const evaluators::EvaluationOptions& resolved) const {
  if (served_) {
    return [remarks = remarks_](const tasks::Evaluation& evaluation) {
      return remarks->light_of(evaluation);
    };
  }
  return [&task = task_, light = light_on(devices, resolved.cache, options_.broker)](
             const tasks::Evaluation& evaluation) { return light(task, evaluation); };
}

std::string JudgingPlace::warning(const std::string& device_kind) const {
  return served_ ? "" : tasks::unproven_warning({task_}, device_kind);
}

std::unique_ptr<evaluators::DevicePool>
open_devices(const JudgingOptions& options, evaluators::EvaluationOptions resolved, bool only_one) {
  if (only_one && options.broker.url.empty()) {
    resolved.device = evaluators::select_device(resolved.device).id;
  }
  return open_devices(resolved, resolved.run_timeout, options.broker);
}

evaluators::EvaluationOptions resolved(const JudgingOptions& options) {
  evaluators::EvaluationOptions evaluation = options.evaluation;
  evaluation.counters = evaluators::Counting::Off; // the `profile` command turns them on
  if (options.broker.url.empty() && options.server.server.empty()) {
    check_isolation(evaluation);
  }
  return evaluation;
}

std::chrono::milliseconds race_budget(std::string_view device_kind) {
  return std::chrono::milliseconds(device_kind == "cpu" ? 1000 : 300);
}

tasks::Evaluation evaluation_of(std::optional<evaluators::EvaluationResult> result) {
  if (!result) {
    return {};
  }
  if (!result->fault.empty()) {
    throw Error(result->fault);
  }
  return std::move(result->evaluations.front());
}

} // namespace winnow::harness
