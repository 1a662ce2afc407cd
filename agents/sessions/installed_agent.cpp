#include "agents/sessions/installed_agent.h"

#include "agents/keys/key_source.h"
#include "agents/keys/secret_shapes.h"
#include "base/error.h"
#include "base/files.h"
#include "base/secrets.h"
#include "base/text.h"
#include "process/child_process.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

namespace winnow::agents {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kVersionTime{20};
/// What programs and clients of the network look for, whoever they are.
constexpr std::array<const char*, 14> kUsualVariables{"PATH",         "LANG",
                                                      "LC_ALL",       "TZ",
                                                      "HTTP_PROXY",   "HTTPS_PROXY",
                                                      "NO_PROXY",     "http_proxy",
                                                      "https_proxy",  "no_proxy",
                                                      "ALL_PROXY",    "SSL_CERT_FILE",
                                                      "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"};

/// Empty: it is in no folder of PATH.
fs::path find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return access(name.c_str(), X_OK) == 0 ? fs::absolute(name) : fs::path();
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path program = fs::path(folder) / name;
    if (program.is_absolute() && is_file(program) && access(program.c_str(), X_OK) == 0) {
      return program;
    }
  }
  return {};
}

/// The folder of npm's packages that has the program; otherwise the program itself.
fs::path package_of(const fs::path& program) {
  fs::path folder;
  for (const fs::path& part : program) {
    folder /= part;
    if (part == "node_modules") {
      return folder;
    }
  }
  return program;
}

/// "node" of "#!/usr/bin/env node"; empty: the program is no script.
std::string interpreter_of(const fs::path& program) {
  std::string line(2, '\0');
  std::ifstream file(program, std::ios::binary);
  if (!file.read(line.data(), 2) || line != "#!") {
    return {};
  }
  std::getline(file, line);
  std::istringstream words(line);
  std::string word;
  words >> word;
  while (word.ends_with("/env") || word.starts_with('-')) {
    if (!(words >> word)) {
      return {};
    }
  }
  return word;
}

void add_part(std::vector<fs::path>& parts, const fs::path& path) {
  if (!path.empty() && !is_below(path, "/usr") && !contains(parts, path)) {
    parts.push_back(path);
  }
}

/// A runtime outside of /usr stands in a folder of its own: PREFIX/bin/node. A prefix that holds
/// the home would show all of it.
fs::path prefix_of(const fs::path& program) {
  const fs::path folder = program.parent_path(), prefix = folder.parent_path();
  const char* home = std::getenv("HOME");
  const bool holds_home = prefix == "/" || (home != nullptr && is_below(home, prefix));
  return folder.filename() == "bin" && !holds_home ? prefix : program;
}

fs::path user_path(const std::string& path) {
  const char* home = std::getenv("HOME");
  return path.starts_with("~/") && home != nullptr ? fs::path(home) / path.substr(2)
                                                   : fs::path(path);
}

std::vector<fs::path> parts_of(const AgentAdapter& adapter, const fs::path& program) {
  std::vector<fs::path> parts;
  std::error_code ignored;
  add_part(parts, package_of(program));
  if (const std::string name = interpreter_of(program); !name.empty()) {
    if (const fs::path found = find_program(name); !found.empty() && !is_below(found, "/usr")) {
      add_part(parts, prefix_of(fs::canonical(found, ignored)));
      add_part(parts, found); // the name that the script asks for may be a link
    }
  }
  for (const std::string& path : adapter.readable) {
    if (const fs::path shown = user_path(path); fs::exists(shown, ignored)) {
      add_part(parts, fs::absolute(shown));
    }
  }
  return parts;
}

std::map<std::string, std::string> environment_of(const AgentAdapter& adapter) {
  std::map<std::string, std::string> environment;
  const auto pass = [&](const std::string& name) {
    if (const char* value = std::getenv(name.c_str()); value != nullptr) {
      environment[name] = value;
      if (names_secret(name) || looks_secret(value)) {
        keep_secret(value);
      }
    }
  };
  std::for_each(kUsualVariables.begin(), kUsualVariables.end(), pass);
  std::for_each(adapter.environment.begin(), adapter.environment.end(), pass);
  for (const std::string& name : adapter.keys) {
    KeySources sources;
    sources.variables = {name};
    if (const Key key = find_key(sources); !key.value.empty()) {
      environment[name] = key.value;
    }
  }
  for (const auto& [name, value] : adapter.set) {
    environment[name] = value;
  }
  return environment;
}

UsageError not_installed(const AgentAdapter& adapter) {
  return UsageError(fmt::format("the agent '{}' is not installed: there is no program '{}' in PATH",
                                adapter.name, adapter.command.front()),
                    adapter.install.empty() ? "install it, or correct `command` in agents.toml"
                                            : adapter.install);
}

std::string version_of(const InstalledAgent& agent, const fs::path& home) {
  process::Command command;
  command.argv = agent.adapter.version;
  command.argv.front() = find_program(command.argv.front()).string();
  if (command.argv.front().empty()) {
    return {};
  }
  command.environment = {{"PATH", agent.environment.contains("PATH")
                                      ? agent.environment.at("PATH")
                                      : "/usr/local/bin:/usr/bin:/bin"},
                         {"HOME", home.string()}};
  command.limits.wall = kVersionTime;
  const process::ChildResult result = process::run_child(command, {});
  const auto lines = split_lines(trim(result.out));
  return result.end == process::ChildResult::End::Exited && result.exit_code == 0 && !lines.empty()
             ? shortened(visible(lines.back()), 80)
             : std::string();
}

} // namespace

InstalledAgent find_installed(const AgentAdapter& adapter) {
  const fs::path found = find_program(adapter.command.front());
  if (found.empty()) {
    throw not_installed(adapter);
  }
  InstalledAgent agent;
  agent.adapter = adapter;
  agent.program = fs::canonical(found);
  agent.parts = parts_of(adapter, agent.program);
  agent.environment = environment_of(adapter);
  return agent;
}

Availability probe_agent(const AgentAdapter& adapter) {
  const fs::path found = find_program(adapter.command.front());
  if (found.empty()) {
    const UsageError missing = not_installed(adapter);
    return Availability::no(missing.what(), missing.remedy());
  }
  const TemporaryDirectory home("agent-version");
  InstalledAgent agent;
  agent.adapter = adapter;
  if (const char* path = std::getenv("PATH"); path != nullptr) {
    agent.environment["PATH"] = path;
  }
  const std::string version =
      adapter.version.empty() ? std::string() : version_of(agent, home.path());
  return Availability::yes(version.empty() ? found.string()
                                           : fmt::format("{}, {}", version, found.string()));
}

} // namespace winnow::agents
