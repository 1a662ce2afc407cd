#include "harness/doctor/doctor.h"

#include "agents/endpoints/endpoint_factory.h"
#include "agents/endpoints/providers.h"
#include "agents/http/url.h"
#include "agents/sessions/installed_agent.h"
#include "base/error.h"
#include "base/text.h"
#include "evaluators/host/context_probe.h"
#include "evaluators/host/devices.h"
#include "harness/config/model_arms.h"
#include "harness/machine/machine.h"
#include "harness/report/text_table.h"
#include "harness/run/endpoints.h"
#include "process/session_fence.h"
#include "tasks/catalogue.h"
#include "tasks/task/task.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDetailColumn = 24;

bool is_usable_gpu(const evaluators::DeviceReport& device) {
  return device.kind != "cpu" && device.availability.ok;
}

/// Also opens a context in an isolated process: a GPU's driver may answer and still refuse that.
Availability device_availability(const evaluators::DeviceReport& device) {
  if (!is_usable_gpu(device)) {
    return device.availability;
  }
  const process::Isolation level = process::probe_isolation().best();
  const Availability context = evaluators::probe_context(device, level);
  return context.ok ? Availability::yes(device.availability.detail + "; " + context.detail)
                    : Availability::no(fmt::format("no context opens under {}: {}",
                                                   to_string(level), context.why),
                                       context.remedy);
}

void add_isolation(std::vector<Examined>& findings) {
  const process::IsolationProbe& probe = process::probe_isolation();
  findings.push_back({"isolation", "bubblewrap", probe.bubblewrap});
  findings.push_back({"isolation", "landlock+seccomp", probe.landlock_seccomp});
  findings.push_back({"isolation", "rlimits", probe.rlimits});
}

/// A server without a key is usable if it listens on its default port.
Availability local_server(const agents::Provider& provider) {
  const std::string where = agents::parse_url(provider.base_url)->shown;
  return agents::accepts_connections(provider.base_url)
             ? Availability::yes(where + ", a server listens")
             : Availability::no(
                   "nothing listens at " + where,
                   "start the server, or set endpoint.base_url to the address of the server");
}

/// Adds the configured endpoint and all other known providers. Those need only a key, or a server
/// on this machine.
void add_endpoints(std::vector<Examined>& findings, const RunConfig& config) {
  const std::string configured =
      config.endpoint.provider.empty() ? config.endpoint.kind : config.endpoint.provider;
  for (const ModelArm& model : models_of(config)) {
    findings.push_back({"endpoint", model.name.empty() ? configured : model.name,
                        probe_run_endpoint(model.endpoint)});
  }
  for (const agents::Provider& provider : agents::providers()) {
    const bool same_key = provider.name == "openai-chat"; // the same key as "openai"
    if (provider.name == configured || same_key) {
      continue;
    }
    agents::EndpointConfig endpoint;
    endpoint.provider = provider.name;
    findings.push_back({"endpoint", provider.name,
                        provider.key_variables.empty() ? local_server(provider)
                                                       : agents::probe_endpoint(endpoint)});
  }
}

/// The agents that are installed, and the fence around their sessions.
void add_agents(std::vector<Examined>& findings) {
  findings.push_back({"agent", "fence", process::probe_session_fence()});
  for (const agents::AgentAdapter& agent : agents::known_agents()) {
    findings.push_back({"agent", agent.name, agents::probe_agent(agent)});
  }
}

Availability store_availability(const std::string& store) {
  fs::path directory = fs::absolute(store).parent_path();
  if (fs::exists(store)) {
    return access(store.c_str(), R_OK | W_OK) == 0
               ? Availability::yes(store)
               : Availability::no(
                     store + " cannot be written",
                     "check the permissions of the file, or name another store with --store");
  }
  while (!fs::exists(directory)) {
    directory = directory.parent_path(); // the first run creates the directory
  }
  return access(directory.c_str(), W_OK) == 0
             ? Availability::yes(store + " (not there yet)")
             : Availability::no(
                   directory.string() + " cannot be written",
                   "check the permissions of the folder, or name another store with --store");
}

Availability catalogue_availability() {
  try {
    const fs::path catalogue = tasks::find_catalogue();
    const std::size_t count = tasks::list_tasks(catalogue).size();
    if (count == 0) {
      return Availability::no(catalogue.string() + " holds no tasks",
                              "set WINNOW_CATALOGUE to a folder with <category>/<task>/task.toml");
    }
    return Availability::yes(fmt::format("{} tasks in {}", count, catalogue.string()));
  } catch (const Error& error) {
    return Availability::no(error.what(), error.remedy());
  }
}

using Level = IsolationTable::Level;

/// Adds a row for each GPU. `reasons` collects why a context cannot be opened.
void add_contexts(const IsolationTable& levels, TextTable& table, std::string& reasons) {
  for (std::size_t i = 0; i < levels.levels.front().contexts.size(); ++i) {
    const std::string& device = levels.levels.front().contexts[i].first;
    std::vector<std::string>& row = table.rows.emplace_back();
    row.push_back("a worker opens a context on " + device);
    for (const Level& level : levels.levels) {
      const Availability& context = level.contexts.at(i).second;
      if (!context.ok) {
        reasons += fmt::format("{} under {}: {}\n  -> {}\n", device, level.name, context.why,
                               context.remedy);
      }
      row.push_back(context.ok ? "ok" : "no (see below)");
    }
  }
}

} // namespace

std::vector<Examined> examine_machine(const RunConfig& config) {
  std::vector<Examined> findings;
  for (const evaluators::DeviceReport& device : evaluators::probe_devices()) {
    findings.push_back({"device", device.id, device_availability(device)});
  }
  for (const evaluators::ToolReport& tool : evaluators::probe_compilers()) {
    findings.push_back({"compiler", tool.name, tool.availability});
  }
  add_isolation(findings);
  add_endpoints(findings, config);
  add_agents(findings);
  findings.push_back({"store", "store", store_availability(config.store)});
  findings.push_back({"catalogue", "tasks", catalogue_availability()});
  return findings;
}

IsolationTable try_isolation() {
  using process::Isolation;
  IsolationTable table;
  for (const process::Isolation level :
       {process::Isolation::Bubblewrap, process::Isolation::LandlockSeccomp,
        process::Isolation::Rlimits}) {
    if (process::probe_isolation().at(level).ok) {
      Level& column = table.levels.emplace_back();
      column.name = to_string(level);
      column.attempts = process::try_to_escape(level);
      for (const evaluators::DeviceReport& device : evaluators::probe_devices()) {
        if (is_usable_gpu(device)) {
          column.contexts.emplace_back(device.id, evaluators::probe_context(device, level));
        }
      }
    }
  }
  return table;
}

std::string to_string(const IsolationTable& table) {
  if (table.levels.empty()) {
    return "no isolation level works here; see `winnow doctor`\n";
  }
  TextTable text;
  text.columns.push_back({"a candidate's process tries to"});
  for (const Level& level : table.levels) {
    text.columns.push_back({level.name});
  }
  for (std::size_t i = 0; i < table.levels.front().attempts.size(); ++i) {
    std::vector<std::string>& row = text.rows.emplace_back();
    row.push_back(table.levels.front().attempts[i].name);
    for (const Level& level : table.levels) {
      const process::EscapeAttempt& attempt = level.attempts.at(i);
      row.push_back((attempt.stopped ? "stopped (" : "POSSIBLE (") + attempt.detail + ")");
    }
  }
  std::string reasons;
  add_contexts(table, text, reasons);
  return to_aligned_text(text, 0) + reasons;
}

bool any_device_usable(const std::vector<Examined>& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const Examined& finding) {
    return finding.group == "device" && finding.availability.ok;
  });
}

std::string doctor_text(const std::vector<Examined>& findings) {
  std::string text;
  std::string group;
  for (const Examined& finding : findings) {
    if (finding.group != group) {
      group = finding.group;
      text += group + "\n";
    }
    const Availability& found = finding.availability;
    const auto add = [&](const std::string& line) {
      text += wrap_line(line, table_columns(), kDetailColumn) + "\n";
    };
    add(fmt::format("  {:<18}{:<4}{}", finding.name, found.ok ? "ok" : "no",
                    found.ok ? found.detail : found.why));
    if (!found.ok && !found.remedy.empty()) {
      add(fmt::format("  {:<22}-> {}", "", found.remedy));
    }
  }
  text += any_device_usable(findings) ? "ready: winnow run\n"
                                      : "not ready: no device can be used (see above)\n";
  return text;
}

nlohmann::json doctor_json(const std::vector<Examined>& findings) {
  nlohmann::json list = nlohmann::json::array();
  for (const Examined& finding : findings) {
    const Availability& found = finding.availability;
    list.push_back({{"group", finding.group},
                    {"name", finding.name},
                    {"ok", found.ok},
                    {"detail", found.detail},
                    {"why", found.why},
                    {"remedy", found.remedy}});
  }
  return {{"schema", "winnow.doctor"},
          {"version", 1},
          {"winnow", winnow_version()},
          {"ready", any_device_usable(findings)},
          {"findings", list}};
}

} // namespace winnow::harness
