#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace winnow::agents {

/// Places where an endpoint's key may be. The first place that exists counts, in this order:
/// `command`; `file`; then for each variable the environment, .env in the working directory, and
/// the keys file ($XDG_CONFIG_HOME or ~/.config)/winnow/keys.
struct KeySources {
  std::string command; ///< run by /bin/sh; the first line of its output is the key
  /// Contains only the key, or NAME=value lines; only its owner may read it (0600).
  std::string file;
  std::vector<std::string> variables; ///< in this order: "GOOGLE_API_KEY" before "GEMINI_API_KEY"
};

struct Key {
  std::string value;  ///< empty: no key was found
  std::string source; ///< shown to users: "the environment variable OPENAI_API_KEY"
};

/// Looks up a key. Throws UsageError if a place exists but cannot be used: others can read the
/// file, the command fails, or the key cannot stand in an HTTP header. The message never contains
/// the key. Remembers the keys that it finds, because protect_keys() removes them from the
/// environment.
Key find_key(const KeySources& sources);

/// Protects this process once it holds secrets: disables core dumps, closes its memory and
/// environment to other processes of the user, and removes the variables from its environment, so
/// that no child inherits them. find_key() calls this for each key.
void protect_keys(const std::vector<std::string>& variables);

/// Reads NAME=value lines as in a shell: comments, `export` and quotes are allowed. Throws
/// UsageError with file:line.
std::string variable_in_file(const std::filesystem::path& path, const std::string& name);

} // namespace winnow::agents
