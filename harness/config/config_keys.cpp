#include "harness/config/config_keys.h"

#include "agents/keys/secret_shapes.h"
#include "agents/prompts/prompts.h"
#include "base/error.h"
#include "base/text.h"
#include "harness/config/duration.h"
#include "harness/config/model_arms.h"
#include "harness/config/until.h"
#include "search/policy.h"
#include "search/role.h"

#include <algorithm>
#include <set>
#include <type_traits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

struct Range {
  double low = 0;
  double high = 9e15; // exact in a double and in a TOML integer
};

void decode(const json& value, std::string& out, const Range&) {
  if (!value.is_string()) {
    throw BadValue("a string");
  }
  out = value.get<std::string>();
}

void decode(const json& value, bool& out, const Range&) {
  if (!value.is_boolean()) {
    throw BadValue("true or false");
  }
  out = value.get<bool>();
}

template <typename T>
requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) void decode(const json& value, T& out,
                                                                          const Range& range) {
  constexpr bool kWhole = std::is_integral_v<T>;
  const bool right_type = kWhole ? value.is_number_integer() : value.is_number();
  if (!right_type || !(value.get<double>() >= range.low && value.get<double>() <= range.high)) {
    throw BadValue(
        range.high >= Range{}.high
            ? fmt::format("a {} of at least {:g}", kWhole ? "whole number" : "number", range.low)
            : fmt::format("a {} from {:g} to {:g}", kWhole ? "whole number" : "number", range.low,
                          range.high));
  }
  out = value.get<T>();
}

void decode(const json& value, std::vector<std::string>& out, const Range& range) {
  const bool strings =
      value.is_array() && static_cast<double>(value.size()) >= range.low &&
      std::all_of(value.begin(), value.end(), [](const json& item) { return item.is_string(); });
  if (!strings) {
    throw BadValue("a list of strings, for instance [\"axpy\", \"row_softmax\"] or [\"all\"]");
  }
  out = value.get<std::vector<std::string>>();
}

template <typename T> void decode(const json& value, std::optional<T>& out, const Range& range) {
  if (value.is_null()) { // only in stored configurations; TOML has no null
    out.reset();
    return;
  }
  decode(value, out.emplace(), range);
}

void decode(const json& value, process::Isolation& out, const Range&) {
  const auto isolation =
      value.is_string() ? process::isolation_from_string(value.get<std::string>()) : std::nullopt;
  if (!isolation) {
    throw BadValue("\"rlimits\", \"landlock+seccomp\" or \"bubblewrap\"");
  }
  out = *isolation;
}

void decode(const json& value, evaluators::Counting& out, const Range&) {
  const auto counting =
      value.is_string() ? evaluators::counting_from_string(value.get<std::string>()) : std::nullopt;
  if (!counting) {
    throw BadValue("\"off\", \"auto\", \"fast\" or \"full\"");
  }
  out = *counting;
}

void decode(const json& value, std::chrono::milliseconds& out, const Range&) {
  std::string text;
  if (value.is_string()) {
    text = value.get<std::string>();
  } else if (value.is_number()) {
    text = fmt::format("{}", value.get<double>());
  }
  const auto duration = parse_duration(text);
  if (!duration) {
    throw BadValue("seconds, or a duration such as \"90s\", \"10m\" or \"1.5h\"");
  }
  out = *duration;
}

void decode(const json& value, fs::path& out, const Range& range) {
  std::string text;
  decode(value, text, range);
  out = text;
}

json encode(const fs::path& value) {
  return value.string();
}
json encode(std::chrono::milliseconds value) {
  // In seconds, the unit of a number without a unit.
  return static_cast<double>(value.count()) / 1000;
}
json encode(evaluators::Counting value) {
  return std::string(to_string(value));
}
json encode(process::Isolation value) {
  return std::string(to_string(value));
}
template <typename T> json encode(const T& value) {
  return value;
}
template <typename T> json encode(const std::optional<T>& value) {
  return value ? encode(*value) : json();
}

using SetMember = void (*)(RunConfig& config, const json& value, const Range& range);
using GetMember = json (*)(const RunConfig& config);

ConfigKey key_of_member(std::string section, std::string name, SetMember set, GetMember get,
                        Range range, Reach reach) {
  return {std::move(section), std::move(name),
          [set, range](RunConfig& config, const json& value, const fs::path&) {
            set(config, value, range);
          },
          get, reach};
}

/// `Access` returns a reference to the member of a const or non-const RunConfig. The functions go
/// on as pointers: std::function for sixty types of lambdas took the compiler a second and a half.
template <typename Access>
ConfigKey key(std::string section, std::string name, Access, Range range = {},
              Reach reach = Reach::Nothing) {
  return key_of_member(
      std::move(section), std::move(name),
      [](RunConfig& config, const json& value, const Range& limits) {
        decode(value, Access{}(config), limits);
      },
      [](const RunConfig& config) { return encode(Access{}(config)); }, range, reach);
}

/// A path that a resumed run finds, too: an absolute one. `base` is the folder of the file that
/// names it. Empty stays empty.
std::string found_path(const std::string& text, const fs::path& base) {
  fs::path path = text;
  if (!text.empty() && path.is_relative()) {
    path = fs::exists(path) || base.empty() ? fs::absolute(path) : fs::absolute(base / path);
  }
  return path.lexically_normal().string();
}

/// A file or directory that is read.
template <typename Access>
ConfigKey existing_path(std::string section, std::string name, Access access,
                        Reach reach = Reach::Path) {
  return {std::move(section), std::move(name),
          [access](RunConfig& config, const json& value, const fs::path& base) {
            std::string text;
            decode(value, text, Range{});
            access(config) = found_path(text, base);
          },
          [access](const RunConfig& config) { return json(access(config)); }, reach};
}

/// Kernel files, or @ID for kernels of the store: a list, or one string.
ConfigKey seed_kernels() {
  return {"run", "seed_kernel",
          [](RunConfig& config, const json& value, const fs::path& base) {
            std::vector<std::string> names;
            if (value.is_string()) { // of earlier versions, where empty says none
              names = {value.get<std::string>()};
              std::erase(names, std::string());
            } else {
              decode(value, names, Range{0, 100});
            }
            for (std::string& name : names) {
              name = name.starts_with('@') ? name : found_path(name, base);
            }
            config.seed_kernels = std::move(names);
          },
          [](const RunConfig& config) { return json(config.seed_kernels); }, Reach::Path};
}

/// Empty: no goal.
ConfigKey until() {
  return {"run", "until",
          [](RunConfig& config, const json& value, const fs::path&) {
            std::string text;
            decode(value, text, Range{});
            if (!text.empty()) {
              parse_until(text);
            }
            config.until = std::move(text);
          },
          [](const RunConfig& config) { return json(config.until); }};
}

/// A table of a request, stored as the text of a JSON object; empty: no table.
template <typename Access>
ConfigKey json_object(std::string section, std::string name, Access access) {
  return {std::move(section), std::move(name),
          [access](RunConfig& config, const json& value, const fs::path&) {
            if (!value.is_object()) {
              throw BadValue("a table, for instance {top_k = 20}");
            }
            access(config) = value.empty() ? std::string() : value.dump();
          },
          [access](const RunConfig& config) {
            const std::string& text = access(config);
            return text.empty() ? json::object() : json::parse(text);
          },
          Reach::Endpoint};
}

#define WINNOW_MEMBER(member) ([](auto& config) -> auto& { return config.member; })

std::vector<ConfigKey> run_keys() {
  return {
      key("run", "name", WINNOW_MEMBER(name)),
      key("run", "store", WINNOW_MEMBER(store), {}, Reach::Path),
      key("run", "tasks", WINNOW_MEMBER(tasks), {1}, Reach::Path),
      key("run", "device", WINNOW_MEMBER(evaluation.device)),
      key("run", "strategy", WINNOW_MEMBER(strategy)),
      key("run", "proposals", WINNOW_MEMBER(proposals), {1, 100'000}),
      key("run", "chains", WINNOW_MEMBER(chains), {1, 1000}),
      key("run", "seeds", WINNOW_MEMBER(seeds), {1, 1000}),
      key("run", "patience", WINNOW_MEMBER(patience), {0, 100'000}),
      key("run", "value_of_doubling", WINNOW_MEMBER(value_of_doubling)),
      key("run", "missions", WINNOW_MEMBER(missions)),
      until(),
      seed_kernels(),
      key("run", "search_seed", WINNOW_MEMBER(search_seed), {0, 9.2e18}),
      key("run", "parallel", WINNOW_MEMBER(endpoint.parallel), {1, 1000}),
      key("run", "max_variants", WINNOW_MEMBER(max_variants), {1, 10'000}),
      key("run", "finalists", WINNOW_MEMBER(finalists), {0, 1'000}),
      key("limits", "calls", WINNOW_MEMBER(limits.calls)),
      key("limits", "tokens", WINNOW_MEMBER(limits.tokens)),
      key("limits", "dollars", WINNOW_MEMBER(limits.dollars)),
      key("limits", "wall_time", WINNOW_MEMBER(limits.wall_time)),
      existing_path("prompts", "directory", WINNOW_MEMBER(prompts)),
  };
}

/// The model of a role that makes calls; empty: the model that the kernel's call asks.
ConfigKey role_model(const std::string& role) {
  return {"roles", role,
          [role](RunConfig& config, const json& value, const fs::path&) {
            std::string model;
            decode(value, model, Range{});
            config.role_models.erase(role);
            if (!model.empty()) {
              config.role_models[role] = model;
            }
          },
          [role](const RunConfig& config) {
            const auto found = config.role_models.find(role);
            return json(found == config.role_models.end() ? "" : found->second);
          }};
}

std::vector<ConfigKey> role_keys() {
  std::vector<ConfigKey> keys{key("run", "roles", WINNOW_MEMBER(roles))};
  for (const search::Role& role : search::all_roles()) {
    if (!role.op.empty()) {
      keys.push_back(role_model(role.name));
    }
  }
  return keys;
}

std::vector<ConfigKey> endpoint_keys() {
  return {
      key("endpoint", "provider", WINNOW_MEMBER(endpoint.provider), {}, Reach::Endpoint),
      key("endpoint", "kind", WINNOW_MEMBER(endpoint.kind), {}, Reach::Endpoint),
      existing_path("endpoint", "file", WINNOW_MEMBER(endpoint.file)),
      key("endpoint", "run", WINNOW_MEMBER(endpoint.run)),
      key("endpoint", "reuse", WINNOW_MEMBER(endpoint.reuse)),
      key("endpoint", "base_url", WINNOW_MEMBER(endpoint.base_url), {}, Reach::Endpoint),
      key("endpoint", "model", WINNOW_MEMBER(endpoint.model), {}, Reach::Endpoint),
      key("endpoint", "api_key_env", WINNOW_MEMBER(endpoint.api_key_env), {}, Reach::Key),
      key("endpoint", "api_key_cmd", WINNOW_MEMBER(endpoint.api_key_cmd), {}, Reach::Command),
      existing_path("endpoint", "api_key_file", WINNOW_MEMBER(endpoint.api_key_file), Reach::Key),
      key("endpoint", "agent", WINNOW_MEMBER(endpoint.agent), {}, Reach::Endpoint),
      key("endpoint", "evaluations", WINNOW_MEMBER(endpoint.evaluations), {1, 10'000}),
      key("endpoint", "session_time", WINNOW_MEMBER(endpoint.session_time)),
      key("endpoint", "dollars_per_session", WINNOW_MEMBER(endpoint.dollars_per_session)),
      key("endpoint", "stream", WINNOW_MEMBER(endpoint.stream)),
      key("endpoint", "structured_output", WINNOW_MEMBER(endpoint.structured_output)),
      key("endpoint", "effort", WINNOW_MEMBER(endpoint.effort)),
      key("endpoint", "temperature", WINNOW_MEMBER(endpoint.temperature), {-1, 2}),
      key("endpoint", "max_output_tokens", WINNOW_MEMBER(endpoint.max_output_tokens)),
      json_object("endpoint", "members", WINNOW_MEMBER(endpoint.members)),
      json_object("endpoint", "extra_body", WINNOW_MEMBER(endpoint.extra_body)),
      key("endpoint", "extra_headers", WINNOW_MEMBER(endpoint.extra_headers), {}, Reach::Endpoint),
      existing_path("endpoint", "prices", WINNOW_MEMBER(endpoint.prices)),
      key("endpoint", "dollars_per_million_input",
          WINNOW_MEMBER(endpoint.dollars_per_million_input)),
      key("endpoint", "dollars_per_million_output",
          WINNOW_MEMBER(endpoint.dollars_per_million_output)),
      key("endpoint", "replay_latency_scale", WINNOW_MEMBER(endpoint.replay_latency_scale),
          {0, 1000}),
  };
}

std::vector<ConfigKey> network_keys() {
  constexpr Range kSeconds{0.001, 86'400};
  return {
      key("endpoint", "requests_per_minute", WINNOW_MEMBER(endpoint.requests_per_minute)),
      key("endpoint", "tokens_per_minute", WINNOW_MEMBER(endpoint.tokens_per_minute)),
      key("endpoint", "connect_timeout_seconds", WINNOW_MEMBER(endpoint.connect_timeout_seconds),
          kSeconds),
      key("endpoint", "first_token_seconds", WINNOW_MEMBER(endpoint.first_token_seconds), kSeconds),
      key("endpoint", "stall_seconds", WINNOW_MEMBER(endpoint.stall_seconds), kSeconds),
      key("endpoint", "timeout_seconds", WINNOW_MEMBER(endpoint.timeout_seconds), kSeconds),
      key("endpoint", "max_attempts", WINNOW_MEMBER(endpoint.max_attempts), {1, 100}),
      key("endpoint", "outage_seconds", WINNOW_MEMBER(endpoint.outage_seconds), {0.001, 604'800}),
      key("endpoint", "proxy", WINNOW_MEMBER(endpoint.proxy), {}, Reach::Endpoint),
      existing_path("endpoint", "ca_file", WINNOW_MEMBER(endpoint.ca_file)),
  };
}

std::vector<ConfigKey> evaluation_keys() {
  return {
      key("evaluation", "require_isolation", WINNOW_MEMBER(evaluation.require_isolation)),
      key("evaluation", "seed", WINNOW_MEMBER(evaluation.seed), {1, 9.2e18}),
      key("evaluation", "tiny_seeds", WINNOW_MEMBER(evaluation.tiny_seeds), {1, 100}),
      key("evaluation", "check", WINNOW_MEMBER(evaluation.check)),
      key("evaluation", "promotion", WINNOW_MEMBER(evaluation.promotion)),
      key("evaluation", "timing", WINNOW_MEMBER(evaluation.timing)),
      key("evaluation", "counters", WINNOW_MEMBER(evaluation.counters)),
      key("evaluation", "time_budget", WINNOW_MEMBER(evaluation.time_budget)),
      key("evaluation", "run_timeout", WINNOW_MEMBER(evaluation.run_timeout)),
      key("evaluation", "compile_timeout", WINNOW_MEMBER(evaluation.compile_timeout)),
      key("evaluation", "memory_bytes", WINNOW_MEMBER(evaluation.memory_bytes), {1 << 20}),
      key("evaluation", "cache", WINNOW_MEMBER(evaluation.cache), {}, Reach::Path),
      key("evaluation", "precheck", WINNOW_MEMBER(evaluation.precheck), {}, Reach::Command),
  };
}

std::vector<ConfigKey> broker_keys() {
  return {
      key("broker", "url", WINNOW_MEMBER(broker.url), {}, Reach::Endpoint),
      key("broker", "pool", WINNOW_MEMBER(broker.pool)),
      existing_path("broker", "credentials", WINNOW_MEMBER(broker.credentials), Reach::Key),
      existing_path("broker", "ca_file", WINNOW_MEMBER(broker.ca_file)),
      existing_path("broker", "certificate_file", WINNOW_MEMBER(broker.certificate_file)),
      existing_path("broker", "key_file", WINNOW_MEMBER(broker.key_file), Reach::Key),
  };
}

#undef WINNOW_MEMBER

struct KeyOption {
  const char* section;
  const char* name;
  const char* option;
  const char* help;
};
constexpr KeyOption kOptions[] = {
    {"run", "name", "--name",
     "name of the run; the store must not have a run of this name (default: run.name of the "
     "config, with -2, -3, ... if the name is taken)"},
    {"run", "tasks", "--task",
     "task to work on; may be repeated (default: run.tasks of the config)"},
    {"run", "device", "--device", "best, or a kind of device such as cuda"},
    {"run", "until", "--until",
     "ends a task's search when its best kernel passes this, and gives its calls to the others: "
     "vs_best > 1.1, of_light > 0.9 or speedup > 3"},
    {"evaluation", "require_isolation", "--require-isolation",
     "rlimits, landlock+seccomp or bubblewrap: fail (exit code 4) if the sandbox of this "
     "machine is weaker"},
    {"evaluation", "precheck", "--precheck-cmd",
     "shell command that reads each kernel file from stdin and prints a JSON object with "
     "should_filter; Winnow does not run a kernel if the command refuses the file or fails"},
    {"broker", "url", "--broker",
     "judge at the workers that this NATS broker knows, for instance nats://host:4222, and not on "
     "this machine (docs/distributed.md)"},
    {"broker", "pool", "--pool", "pool of workers to use"},
    {"broker", "credentials", "--broker-credentials",
     "file with USER:PASSWORD for the broker (default: $WINNOW_BROKER_CREDENTIALS)"},
    {"broker", "ca_file", "--broker-ca",
     "PEM file with the certificate that signed that of a tls:// broker (default: the system's)"},
    {"broker", "certificate_file", "--broker-certificate",
     "PEM file with the certificate that a tls:// broker asks for"},
    {"broker", "key_file", "--broker-key",
     "PEM file with the private key of --broker-certificate; only its owner may read the file"},
    {"limits", "calls", "--max-calls",
     "limit on model calls in all sessions of the run; 0: no limit"},
    {"limits", "tokens", "--max-tokens",
     "limit on tokens of prompts and replies together; 0: no limit"},
    {"limits", "dollars", "--max-dollars", "limit on US dollars; 0: no limit"},
    {"limits", "wall_time", "--max-time",
     "limit on wall time: seconds, or 90s, 10m, 1.5h; 0: no limit"},
};

/// Sets what kOptions says about the key.
void describe_key(ConfigKey& key) {
  for (const KeyOption& entry : kOptions) {
    if (key.section == entry.section && key.name == entry.name) {
      key.option = entry.option;
      key.help = entry.help;
    }
  }
}

bool is_variable_name(const std::string& name) {
  return !name.empty() && (std::isdigit(static_cast<unsigned char>(name[0])) == 0) &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

/// Throws UsageError.
void check_roles(const RunConfig& config) {
  search::Settings settings;
  settings.roles = roles_of(config);              // throws for an unknown strategy
  search::make_search(config.strategy, settings); // throws for an unknown role
  for (const auto& [role, model] : config.role_models) {
    const bool is_known =
        std::any_of(config.models.begin(), config.models.end(),
                    [&, &name = model](const ModelArm& own) { return own.name == name; });
    if (!is_known) {
      throw UsageError("roles." + role + " = '" + model + "' names no table of [[models]]",
                       "add a table [[models]] with name = \"" + model + "\"");
    }
  }
  const auto models = models_of(config);
  if (is_model_of_a_role(config, models.front().name)) {
    throw UsageError("every table of [[models]] belongs to a role, so no model writes kernels",
                     "add a table [[models]] that no key of [roles] names");
  }
}

void check_secrets(const RunConfig& config) {
  for (const ModelArm& model : models_of(config)) {
    const std::string& variable = model.endpoint.api_key_env;
    if (!variable.empty() && !is_variable_name(variable)) {
      // The message does not repeat the text, which may be the key itself.
      throw UsageError("endpoint.api_key_env is not the name of an environment variable" +
                           in_words(model),
                       "keys come from the environment: set endpoint.api_key_env to the name of a "
                       "variable, for instance OPENAI_API_KEY, and put the key into that variable");
    }
    agents::refuse_secrets(model.endpoint);
  }
  if (agents::looks_secret(config.broker.url) ||
      agents::command_holds_secret(config.evaluation.precheck)) {
    throw UsageError("broker.url or evaluation.precheck holds a secret, and every run stores its "
                     "configuration",
                     "put the broker's user and password into a file and name it in "
                     "broker.credentials; let the command read its key from a file");
  }
}

} // namespace

const std::vector<ConfigKey>& config_keys() {
  static const std::vector<ConfigKey> keys = [] {
    std::vector<ConfigKey> all = run_keys();
    for (const auto& more :
         {role_keys(), endpoint_keys(), network_keys(), evaluation_keys(), broker_keys()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    std::for_each(all.begin(), all.end(), describe_key);
    return all;
  }();
  return keys;
}

const ConfigKey* find_config_key(const std::string& section, const std::string& name) {
  const auto& keys = config_keys();
  const auto it = std::find_if(keys.begin(), keys.end(), [&](const ConfigKey& candidate) {
    return candidate.section == section && candidate.name == name;
  });
  return it == keys.end() ? nullptr : &*it;
}

std::vector<std::string> config_sections() {
  std::set<std::string> sections;
  for (const ConfigKey& candidate : config_keys()) {
    sections.insert(candidate.section);
  }
  return {sections.begin(), sections.end()};
}

std::vector<std::string> config_key_names(const std::string& section) {
  std::vector<std::string> names;
  for (const ConfigKey& candidate : config_keys()) {
    if (candidate.section == section) {
      names.push_back(candidate.name);
    }
  }
  return names;
}

void check_config(const RunConfig& config) {
  search::preset(config.strategy); // throws if unknown
  check_roles(config);
  if (config.name.empty() || config.store.empty()) {
    throw UsageError("run.name and run.store must not be empty");
  }
  if (config.chains > config.proposals) {
    throw UsageError(fmt::format("run.chains = {} is more than run.proposals = {}", config.chains,
                                 config.proposals),
                     "the chains share the task's proposals: raise proposals or lower chains");
  }
  const bool has_one_task = config.tasks.size() == 1 && config.tasks.front() != "all";
  if (!config.seed_kernels.empty() && !has_one_task) {
    throw UsageError("run.seed_kernel needs one task in run.tasks",
                     "a kernel file solves one task: name that task");
  }
  check_secrets(config);
  const agents::PromptTemplates templates(config.prompts); // throws for a mistake in a template
}

} // namespace winnow::harness
