#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace winnow::agents {

/// Where an endpoint's key may come from. The first that is there counts: `command`, `file`, then
/// for each variable the environment, .env in the working directory and the keys file
/// ($XDG_CONFIG_HOME or ~/.config)/winnow/keys.
struct KeySources {
  std::string command; ///< run by /bin/sh; the first line of its output is the key
  std::string file;    ///< holds the key alone, or lines NAME=value; for its owner only (0600)
  std::vector<std::string> variables; ///< in order, "GOOGLE_API_KEY" before "GEMINI_API_KEY"
};

struct Key {
  std::string value;  ///< empty: there is none
  std::string source; ///< for people: "the environment variable OPENAI_API_KEY"
};

/// Looks a key up. Throws UsageError, without the key, when a source that is there cannot be used:
/// a file that others can read, a command that fails, a key that cannot stand in a header. What was
/// found is remembered, since protect_keys() takes it out of the environment.
Key find_key(const KeySources& sources);

/// From the first key on, this process holds secrets: no core dump, its memory and environment are
/// closed to other processes of the user, and the variable is gone from its environment, so that no
/// child inherits it. find_key() calls it for each key.
void protect_keys(const std::vector<std::string>& variables);

/// NAME=value lines as in a shell: comments, `export`, quotes. Throws UsageError with file:line.
std::string variable_in_file(const std::filesystem::path& path, const std::string& name);

} // namespace winnow::agents
