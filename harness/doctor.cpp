#include "harness/doctor.h"

#include "agents/providers.h"
#include "base/error.h"
#include "evaluators/evaluator.h"
#include "harness/endpoints.h"
#include "harness/machine.h"
#include "tasks/task.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

bool is_usable_gpu(const evaluators::DeviceReport& device) {
  return device.kind != "cpu" && device.availability.ok;
}

/// A GPU's driver may answer and yet give no context to a process that is fenced in.
Availability device_availability(const evaluators::DeviceReport& device) {
  if (!is_usable_gpu(device)) {
    return device.availability;
  }
  const evaluators::Isolation level = evaluators::probe_isolation().best();
  const Availability context = evaluators::probe_context(device, level);
  return context.ok ? Availability::yes(device.availability.detail + "; " + context.detail)
                    : Availability::no(fmt::format("no context opens under {}: {}",
                                                   to_string(level), context.why),
                                       context.remedy);
}

void add_isolation(std::vector<Finding>& findings) {
  const evaluators::IsolationProbe& probe = evaluators::probe_isolation();
  findings.push_back({"isolation", "bubblewrap", probe.bubblewrap});
  findings.push_back({"isolation", "landlock+seccomp", probe.landlock_seccomp});
  findings.push_back({"isolation", "rlimits", probe.rlimits});
}

/// The endpoint as configured, and every provider that would need no more than its key.
void add_endpoints(std::vector<Finding>& findings, const RunConfig& config) {
  const std::string configured =
      config.endpoint.provider.empty() ? config.endpoint.kind : config.endpoint.provider;
  findings.push_back({"endpoint", configured, probe_run_endpoint(config.endpoint)});
  for (const agents::Provider& provider : agents::providers()) {
    const bool same_key = provider.name == "openai-chat"; // as openai's
    if (!provider.key_variables.empty() && provider.name != configured && !same_key) {
      agents::EndpointConfig endpoint;
      endpoint.provider = provider.name;
      findings.push_back({"endpoint", provider.name, agents::probe_endpoint(endpoint)});
    }
  }
}

Availability store_availability(const std::string& store) {
  fs::path directory = fs::absolute(store).parent_path();
  if (fs::exists(store)) {
    return access(store.c_str(), R_OK | W_OK) == 0
               ? Availability::yes(store)
               : Availability::no(store + " cannot be written",
                                  "check its permissions, or name another with --store");
  }
  while (!fs::exists(directory)) {
    directory = directory.parent_path(); // it is made when the first run starts
  }
  return access(directory.c_str(), W_OK) == 0
             ? Availability::yes(store + " (not there yet)")
             : Availability::no(directory.string() + " cannot be written",
                                "check its permissions, or name another store with --store");
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

template <class Cell>
std::string table_row(const IsolationTable& table, const std::string& name, const Cell& cell) {
  std::string line = fmt::format("{:<36}", name);
  for (const Level& level : table.levels) {
    line += fmt::format("{:<56}", cell(level));
  }
  return line + "\n";
}

/// A row for each GPU; below them why a context does not open.
std::string context_rows(const IsolationTable& table) {
  std::string rows, reasons;
  for (std::size_t i = 0; i < table.levels.front().contexts.size(); ++i) {
    const std::string& device = table.levels.front().contexts[i].first;
    rows += table_row(table, "a worker opens a context on " + device, [&](const Level& level) {
      const Availability& context = level.contexts.at(i).second;
      if (!context.ok) {
        reasons += fmt::format("{} under {}: {}\n  -> {}\n", device, level.name, context.why,
                               context.remedy);
      }
      return context.ok ? "ok" : "no (see below)";
    });
  }
  return rows + reasons;
}

} // namespace

std::vector<Finding> examine_machine(const RunConfig& config) {
  std::vector<Finding> findings;
  for (const evaluators::DeviceReport& device : evaluators::probe_devices()) {
    findings.push_back({"device", device.id, device_availability(device)});
  }
  for (const evaluators::ToolReport& tool : evaluators::probe_compilers()) {
    findings.push_back({"compiler", tool.name, tool.availability});
  }
  add_isolation(findings);
  add_endpoints(findings, config);
  findings.push_back({"store", "store", store_availability(config.store)});
  findings.push_back({"catalogue", "tasks", catalogue_availability()});
  return findings;
}

IsolationTable try_isolation() {
  using evaluators::Isolation;
  IsolationTable table;
  for (const Isolation level :
       {Isolation::Bubblewrap, Isolation::LandlockSeccomp, Isolation::Rlimits}) {
    if (evaluators::probe_isolation().at(level).ok) {
      Level& column = table.levels.emplace_back();
      column.name = to_string(level);
      column.attempts = evaluators::try_to_escape(level);
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
  std::string text = table_row(table, "a candidate's process tries to",
                               [](const Level& level) { return level.name; });
  for (std::size_t i = 0; i < table.levels.front().attempts.size(); ++i) {
    text += table_row(table, table.levels.front().attempts[i].name, [&](const Level& level) {
      const evaluators::EscapeAttempt& attempt = level.attempts.at(i);
      return (attempt.stopped ? "stopped (" : "POSSIBLE (") + attempt.detail + ")";
    });
  }
  return text + context_rows(table);
}

bool any_device_usable(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.group == "device" && finding.availability.ok;
  });
}

std::string doctor_text(const std::vector<Finding>& findings) {
  std::string text;
  std::string group;
  for (const Finding& finding : findings) {
    if (finding.group != group) {
      group = finding.group;
      text += group + "\n";
    }
    const Availability& found = finding.availability;
    text += fmt::format("  {:<18}{:<4}{}\n", finding.name, found.ok ? "ok" : "no",
                        found.ok ? found.detail : found.why);
    if (!found.ok && !found.remedy.empty()) {
      text += fmt::format("  {:<22}-> {}\n", "", found.remedy);
    }
  }
  text += any_device_usable(findings) ? "ready: winnow run\n"
                                      : "not ready: no device can be used (see above)\n";
  return text;
}

nlohmann::json doctor_json(const std::vector<Finding>& findings) {
  nlohmann::json list = nlohmann::json::array();
  for (const Finding& finding : findings) {
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
