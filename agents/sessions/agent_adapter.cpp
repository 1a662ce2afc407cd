#include "agents/sessions/agent_adapter.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace winnow::agents {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxAgentsBytes = std::uint64_t{1} << 20U;
constexpr const char* kShippedAgents = "configs/agents.toml";
constexpr std::array<std::string_view, 4> kSigns{"login", "confirm", "credit", "dollars"};

std::vector<std::string> words(const TomlReader& table, std::string_view key) {
  return table.has(key) ? table.strings(key) : std::vector<std::string>();
}

std::vector<std::string> path_of(std::string_view pointer) {
  std::vector<std::string> path;
  while (pointer.starts_with('/')) {
    const std::size_t end = pointer.find('/', 1);
    path.emplace_back(pointer.substr(1, end - 1));
    pointer = end == std::string_view::npos ? std::string_view() : pointer.substr(end);
  }
  return path;
}

JsonPlace read_place(const TomlReader& table, std::string_view key, const std::string& text) {
  const std::size_t question = text.find('?');
  const std::size_t equals = text.find('=', question);
  JsonPlace place;
  place.path = path_of(std::string_view(text).substr(0, question));
  if (question != std::string::npos && equals != std::string::npos) {
    place.condition = path_of(std::string_view(text).substr(question + 1, equals - question - 1));
    place.expected = text.substr(equals + 1);
  }
  if (place.path.empty() || (question != std::string::npos && place.condition.empty())) {
    table.fail(key, fmt::format("'{}' is no place in JSON", text),
               "\"/usage/input_tokens\" or \"/text?/type=message\"");
  }
  return place;
}

std::vector<JsonPlace> places(const TomlReader& table, std::string_view key) {
  std::vector<JsonPlace> all;
  for (const std::string& text : words(table, key)) {
    all.push_back(read_place(table, key, text));
  }
  return all;
}

AgentOutputForm read_output_form(const TomlReader& table) {
  using Form = AgentOutputForm::Form;
  table.allow_keys({"form", "text", "errors", "failed", "asks", "session", "prompt_tokens",
                    "cached_tokens", "cache_write_tokens", "completion_tokens", "reasoning_tokens",
                    "dollars"});
  AgentOutputForm output;
  const std::string form = table.string("form");
  const std::vector<std::string> forms{"text", "json", "lines"};
  const auto found = std::find(forms.begin(), forms.end(), form);
  if (found == forms.end()) {
    table.fail_unknown("form", "form", form, forms);
  }
  output.form = static_cast<Form>(found - forms.begin());
  output.text = places(table, "text");
  output.errors = places(table, "errors");
  output.failed = places(table, "failed");
  output.asks = places(table, "asks");
  output.session = places(table, "session");
  output.prompt_tokens = places(table, "prompt_tokens");
  output.cached_tokens = places(table, "cached_tokens");
  output.cache_write_tokens = places(table, "cache_write_tokens");
  output.completion_tokens = places(table, "completion_tokens");
  output.reasoning_tokens = places(table, "reasoning_tokens");
  output.dollars = places(table, "dollars");
  return output;
}

/// Paths that a session's home shall have. One that leaves the home would show anything.
std::vector<std::string> home_paths(const TomlReader& table, std::string_view key) {
  std::vector<std::string> paths = words(table, key);
  for (const std::string& path : paths) {
    const fs::path normal = fs::path(path).lexically_normal();
    if (path.empty() || normal.is_absolute() || normal == "." || *normal.begin() == "..") {
      table.fail(key, fmt::format("'{}' is not below the home", path),
                 "a path such as \".codex/auth.json\"");
    }
  }
  return paths;
}

std::map<std::string, std::string> read_set(const TomlReader& table) {
  std::map<std::string, std::string> set;
  for (const std::string& item : words(table, "set")) {
    const std::size_t equals = item.find('=');
    if (equals == 0 || equals == std::string::npos) {
      table.fail("set", fmt::format("'{}' sets no variable", item), "\"NAME=value\"");
    }
    set[item.substr(0, equals)] = item.substr(equals + 1);
  }
  return set;
}

void check_prompt(const TomlReader& table, const AgentAdapter& agent) {
  if (agent.command.empty()) {
    table.fail("command", "the command is empty", "the agent's program and its words");
  }
  const bool has_prompt =
      std::any_of(agent.command.begin(), agent.command.end(), [](const std::string& word) {
        return word.find("{prompt}") != word.npos || word.find("{prompt_file}") != word.npos;
      });
  if (!has_prompt && !agent.prompt_on_stdin) {
    table.fail("command", "the agent gets no prompt",
               "{prompt} or {prompt_file} in the command, or prompt_on_stdin = true");
  }
}

AgentAdapter read_agent(const TomlReader& table) {
  table.allow_keys({"name", "command", "prompt_on_stdin", "with_model", "with_dollars", "version",
                    "instructions", "keys", "environment", "set", "readable", "home_readable",
                    "home_writable", "transcripts", "price_host", "install", "login", "signs",
                    "output"});
  AgentAdapter agent;
  agent.name = table.string("name");
  agent.command = table.strings("command");
  agent.prompt_on_stdin = table.boolean_or("prompt_on_stdin", false);
  check_prompt(table, agent);
  agent.with_model = words(table, "with_model");
  agent.with_dollars = words(table, "with_dollars");
  agent.version = words(table, "version");
  agent.instructions = table.string_or("instructions", agent.instructions);
  if (agent.instructions.find('/') != std::string::npos || agent.instructions.empty()) {
    table.fail("instructions", "'instructions' is no file in the workspace", "\"AGENTS.md\"");
  }
  agent.keys = words(table, "keys");
  agent.environment = words(table, "environment");
  agent.set = read_set(table);
  agent.readable = words(table, "readable");
  agent.home_readable = home_paths(table, "home_readable");
  agent.home_writable = home_paths(table, "home_writable");
  agent.transcripts = home_paths(table, "transcripts");
  agent.price_host = table.string_or("price_host", "");
  agent.install = table.string_or("install", "");
  agent.login = table.string_or("login", "");
  if (const auto signs = table.optional_table("signs")) {
    signs->allow_keys({kSigns.begin(), kSigns.end()});
    for (const std::string_view sign : kSigns) {
      agent.signs[std::string(sign)] = words(*signs, sign);
    }
  }
  if (const auto output = table.optional_table("output")) {
    agent.output = read_output_form(*output);
  }
  return agent;
}

void add_agents_of(const fs::path& file, std::vector<AgentAdapter>& agents) {
  for (AgentAdapter& agent : parse_agents(read_file(file, kMaxAgentsBytes), file.string())) {
    if (find_named(agents, agent.name) == nullptr) {
      agents.push_back(std::move(agent));
    }
  }
}

} // namespace

std::vector<AgentAdapter> parse_agents(std::string_view text, const std::string& file) {
  const TomlReader root = TomlReader::parse(text, file);
  root.allow_keys({"agent"});
  std::vector<AgentAdapter> agents;
  for (const TomlReader& table : root.tables("agent")) {
    AgentAdapter agent = read_agent(table);
    if (find_named(agents, agent.name) != nullptr) {
      table.fail("name", fmt::format("there are two agents '{}'", agent.name),
                 "one table for each agent");
    }
    agents.push_back(std::move(agent));
  }
  return agents;
}

std::vector<AgentAdapter> known_agents() {
  std::vector<AgentAdapter> agents;
  if (const auto own = users_folder("XDG_CONFIG_HOME", ".config");
      own && is_file(*own / "agents.toml")) {
    add_agents_of(*own / "agents.toml", agents);
  }
  if (const auto shipped = find_shipped(kShippedAgents)) {
    add_agents_of(*shipped, agents);
  }
  return agents;
}

AgentAdapter find_agent(const std::string& name) {
  std::vector<AgentAdapter> agents = known_agents();
  if (AgentAdapter* agent = find_named(agents, name)) {
    return std::move(*agent);
  }
  throw UsageError(
      name.empty() ? "[endpoint] kind = \"agent\" needs endpoint.agent"
                   : fmt::format("[endpoint] unknown agent '{}'{}", name,
                                 suggestion(name, each<std::string>(agents, &AgentAdapter::name))),
      "name an agent of configs/agents.toml, or write a table for your own agent into "
      "~/.config/winnow/agents.toml");
}

} // namespace winnow::agents
