#include "harness/commands/run_options.h"

#include "agents/providers.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

std::string quoted_list(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) {
    text += (text.empty() ? "\"" : ", \"") + item + "\"";
  }
  return "[" + text + "]";
}

} // namespace

void add_endpoint_options(CLI::App& command, RunOptions& options) {
  command
      .add_option(
          "--model", options.model,
          "provider and model, for instance openai/gpt-5 or ollama/qwen3; see `winnow models "
          "list` [endpoint.provider, endpoint.model]")
      ->type_name("PROVIDER/MODEL");
  command
      .add_option("--set", options.set,
                  "any key of the config, for instance --set run.proposals=3; may be repeated")
      ->type_name("SECTION.KEY=VALUE")
      ->allow_extra_args(false);
}

void add_run_options(CLI::App& command, RunOptions& options) {
  add_endpoint_options(command, options);
  command.add_option("--max-calls", options.max_calls,
                     "limit on model calls, resumed sessions included; 0: none [limits.calls]");
  command.add_option("--max-tokens", options.max_tokens,
                     "limit on tokens, prompts and replies together; 0: none [limits.tokens]");
  command.add_option("--max-dollars", options.max_dollars,
                     "limit on US dollars; 0: none [limits.dollars]");
  command.add_option("--max-time", options.max_time,
                     "limit on wall time: seconds, or 90s, 10m, 1.5h; 0: none [limits.wall_time]");
}

std::vector<ConfigOverride> overrides_of(const RunOptions& options) {
  std::vector<ConfigOverride> overrides;
  if (!options.model.empty()) {
    const auto [provider, model] = agents::parse_provider_model(options.model);
    overrides.push_back({"endpoint.provider", provider});
    overrides.push_back({"endpoint.model", nlohmann::json(model).dump()});
    // The config's base URL belongs to another provider.
    overrides.push_back({"endpoint.base_url", "\"\""});
    overrides.push_back({"endpoint.api_key_env", "\"\""});
  }
  add_override(overrides, "limits.calls", options.max_calls, "--max-calls");
  add_override(overrides, "limits.tokens", options.max_tokens, "--max-tokens");
  add_override(overrides, "limits.dollars", options.max_dollars, "--max-dollars");
  add_override(overrides, "limits.wall_time", options.max_time, "--max-time");
  for (const std::string& text : options.set) {
    overrides.push_back(parse_override(text));
  }
  return overrides;
}

void add_new_run_options(CLI::App& command, NewRunOptions& options) {
  command.add_option("--name", options.name,
                     "name of the run [run.name]; must be new in the store (default: the "
                     "config's, with -2, -3, ... if taken)");
  command
      .add_option("--task", options.tasks,
                  "task to work on, may be repeated [run.tasks] (default: the config's)")
      ->allow_extra_args(false);
  command.add_option("--device", options.device, "best, cpu, cuda or hip [run.device]");
  command.add_option("--require-isolation", options.isolation,
                     "rlimits, landlock+seccomp or bubblewrap: fail (exit code 4) where the "
                     "sandbox would be weaker [evaluation.require_isolation]");
  command.add_option("--precheck-cmd", options.precheck,
                     "a shell command that gets each kernel file on stdin and prints a JSON "
                     "object with should_filter; what it refuses is not run, and nothing is when "
                     "it fails [evaluation.precheck]");
  add_run_options(command, options.shared);
}

RunConfig configured(const NewRunOptions& options) {
  std::vector<ConfigOverride> overrides;
  add_override(overrides, "run.store", options.store, "--store");
  add_override(overrides, "run.name", options.name, "--name");
  add_override(overrides, "run.device", options.device, "--device");
  add_override(overrides, "evaluation.require_isolation", options.isolation, "--require-isolation");
  if (!options.precheck.empty()) {
    overrides.push_back({"evaluation.precheck", nlohmann::json(options.precheck).dump()});
  }
  if (!options.tasks.empty()) {
    overrides.push_back({"run.tasks", quoted_list(options.tasks)});
  }
  const auto more = overrides_of(options.shared);
  overrides.insert(overrides.end(), more.begin(), more.end());
  return load_config(find_config(options.config), overrides);
}

void add_override(std::vector<ConfigOverride>& overrides, const std::string& key,
                  const std::string& value, const std::string& option) {
  if (!value.empty()) {
    overrides.push_back({key, value, option});
  }
}

} // namespace winnow::harness
