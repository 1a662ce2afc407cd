#pragma once

#include "base/text/toml_reader.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::agents {

/// A place in the JSON that an agent prints: "/usage/input_tokens", a JSON pointer in which *
/// stands for every member. With "?/type=text" behind it, it counts in objects alone whose member
/// /type is "text".
struct JsonPlace {
  std::vector<std::string> path;
  std::vector<std::string> condition; ///< empty: none
  std::string expected;
};

/// How to read what an agent prints. Numbers at several places are added up.
struct AgentOutputForm {
  enum class Form : std::uint8_t { Text, Json, JsonLines };
  Form form = Form::Text;
  std::vector<JsonPlace> text;   ///< the agent's last words: the last string
  std::vector<JsonPlace> errors; ///< what went wrong, in words
  std::vector<JsonPlace> failed; ///< true: the agent says that it failed
  std::vector<JsonPlace> asks;   ///< any value: it wanted a confirmation
  std::vector<JsonPlace> session;
  std::vector<JsonPlace> prompt_tokens, cached_tokens, cache_write_tokens, completion_tokens,
      reasoning_tokens;
  std::vector<JsonPlace> dollars;
};

/// A coding agent: a program that works in a folder until it has done what a prompt says. A table
/// of configs/agents.toml, whose head explains each key.
struct AgentAdapter {
  std::string name;
  std::vector<std::string> command; ///< with {prompt}, {prompt_file}, {workspace}
  bool prompt_on_stdin = false;
  std::vector<std::string> with_model;   ///< with {model}
  std::vector<std::string> with_dollars; ///< with {dollars}; empty: it takes no limit
  std::vector<std::string> version;      ///< a command that prints it; empty: none
  std::string instructions = "AGENTS.md";
  std::vector<std::string> keys;        ///< variables with secrets
  std::vector<std::string> environment; ///< other variables
  std::map<std::string, std::string> set;
  std::vector<std::string> readable;      ///< paths outside of the home
  std::vector<std::string> home_readable; ///< below the home
  std::vector<std::string> home_writable; ///< files with its login, which it renews
  std::vector<std::string> transcripts;   ///< below the session's home
  std::string price_host;                 ///< where its model is billed, as in prices.toml
  std::string install;                    ///< a remedy
  std::string login;                      ///< a remedy
  /// Texts by what they mean: "login", "confirm", "credit", "dollars".
  std::map<std::string, std::vector<std::string>> signs;
  AgentOutputForm output;
};

/// Throws UsageError ("FILE:LINE:COLUMN: what; expected ...").
std::vector<AgentAdapter> parse_agents(std::string_view text, const std::string& file);

/// All agents: those of the user's file (winnow/agents.toml in $XDG_CONFIG_HOME or ~/.config), then
/// those of the shipped one that have other names. Throws UsageError for a file with a mistake.
std::vector<AgentAdapter> known_agents();

/// Throws UsageError if there is no agent of this name.
AgentAdapter find_agent(const std::string& name);

} // namespace winnow::agents
