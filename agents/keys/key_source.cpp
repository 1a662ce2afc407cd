#include "agents/keys/key_source.h"

#include "base/error.h"
#include "base/files.h"
#include "base/secrets.h"
#include "base/text.h"
#include "process/child_process.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace winnow::agents {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxFileBytes = 64U << 10U;
constexpr std::chrono::seconds kCommandLimit{60};
constexpr std::size_t kMaxQuotedBytes = 300;

/// Keys that were removed from the environment, by variable.
std::map<std::string, std::string>& remembered() {
  static std::map<std::string, std::string> keys;
  return keys;
}
std::mutex& remembered_mutex() {
  static std::mutex mutex;
  return mutex;
}

std::string text_of(const fs::path& path) {
  try {
    return read_file(path, kMaxFileBytes);
  } catch (const Error& failure) {
    throw UsageError(fmt::format("the file with the key cannot be read: {}", failure.what()));
  }
}

fs::path keys_file() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && *config != '\0') {
    return fs::path(config) / "winnow" / "keys";
  }
  const char* home = std::getenv("HOME");
  return home == nullptr ? fs::path() : fs::path(home) / ".config" / "winnow" / "keys";
}

/// Throws UsageError if anyone but the owner can read the file.
void require_private(const fs::path& path) {
  if (const auto mode = mode_if_shared(path)) {
    throw UsageError(fmt::format("{} holds keys, but other users can read it (mode {:o})",
                                 path.string(), *mode & 0777U),
                     "chmod 600 " + path.string());
  }
}

std::string unquoted(std::string_view value, const std::string& where) {
  if (value.empty() || (value.front() != '"' && value.front() != '\'')) {
    return std::string(trim(value.substr(0, value.find(" #"))));
  }
  const std::size_t end = value.find(value.front(), 1);
  if (end == std::string_view::npos) {
    throw UsageError(where + ": the quote is not closed");
  }
  return std::string(value.substr(1, end - 1));
}

process::Command shell(const std::string& text) {
  process::Command command;
  command.argv = {"/bin/sh", "-c", text};
  command.working_directory = fs::current_path();
  command.limits.wall = kCommandLimit;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view entry(*variable);
    const std::size_t equals = entry.find('=');
    if (equals != std::string_view::npos) {
      command.environment[std::string(entry.substr(0, equals))] = entry.substr(equals + 1);
    }
  }
  return command;
}

Key key_of_command(const std::string& text) {
  const process::ChildResult result = process::run_child(shell(text), {});
  if (result.end != process::ChildResult::End::Exited || result.exit_code != 0) {
    throw UsageError(fmt::format("the command in api_key_cmd {}: {}", describe(result),
                                 truncate_text(to_valid_utf8(trim(result.err)), kMaxQuotedBytes)),
                     "it must print the key on its first line and exit with 0");
  }
  const auto lines = split_lines(result.out);
  return {std::string(lines.empty() ? "" : trim(lines.front())), "the command in api_key_cmd"};
}

Key key_of_file(const std::string& file, const std::vector<std::string>& variables) {
  require_private(file);
  const std::string text = text_of(file);
  const std::string source = "the file " + file;
  if (text.find('=') == std::string::npos) {
    return {std::string(trim(text)), source};
  }
  for (const std::string& name : variables) {
    if (std::string value = variable_in_file(file, name); !value.empty()) {
      return {std::move(value), fmt::format("{} in {}", name, source)};
    }
  }
  return {"", source};
}

std::optional<Key> key_of_environment(const std::string& name) {
  const std::string source = "the environment variable " + name;
  if (const char* value = std::getenv(name.c_str()); value != nullptr) {
    return Key{std::string(trim(value)), source};
  }
  const std::lock_guard lock(remembered_mutex());
  const auto known = remembered().find(name);
  return known == remembered().end() ? std::nullopt : std::optional(Key{known->second, source});
}

Key key_of_variables(const std::vector<std::string>& variables) {
  for (const std::string& name : variables) {
    if (auto key = key_of_environment(name); key && !key->value.empty()) {
      return *key;
    }
  }
  for (const fs::path& path : {fs::path(".env"), keys_file()}) {
    for (const std::string& name : variables) {
      if (!is_file(path)) {
        continue;
      }
      if (std::string value = variable_in_file(path, name); !value.empty()) {
        if (path != fs::path(".env")) {
          require_private(path);
        }
        return {std::move(value), fmt::format("{} in {}", name, path.string())};
      }
    }
  }
  return {};
}

void require_sendable(const Key& key) {
  const bool sendable =
      std::all_of(key.value.begin(), key.value.end(), [](char c) { return c > ' ' && c < 0x7F; });
  if (!sendable) {
    throw UsageError(fmt::format("the key from {} holds a space, line break or character that "
                                 "cannot be sent in a header",
                                 key.source));
  }
}

} // namespace

std::string variable_in_file(const fs::path& path, const std::string& name) {
  const std::string text = text_of(path);
  std::string found;
  int number = 0;
  for (std::string_view line : split_lines(text)) {
    const std::string where = fmt::format("{}:{}", path.string(), ++number);
    line.remove_prefix(number == 1 && line.starts_with("\xEF\xBB\xBF") ? 3 : 0);
    line = trim(line);
    if (line.empty() || line.front() == '#') {
      continue;
    }
    if (line.starts_with("export ")) {
      line = trim(line.substr(7));
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      // Does not quote the line, which may contain a key.
      throw UsageError(where + ": expected NAME=value");
    }
    if (trim(line.substr(0, equals)) == name) {
      found = unquoted(trim(line.substr(equals + 1)), where);
    }
  }
  return found;
}

Key find_key(const KeySources& sources) {
  Key key;
  if (!sources.command.empty()) {
    key = key_of_command(sources.command);
  } else if (!sources.file.empty()) {
    key = key_of_file(sources.file, sources.variables);
  } else {
    key = key_of_variables(sources.variables);
  }
  if (key.value.empty() && !key.source.empty()) {
    throw UsageError("there is no key in " + key.source);
  }
  require_sendable(key);
  keep_secret(key.value);
  if (!key.value.empty()) {
    protect_keys(sources.variables);
  }
  return key;
}

void protect_keys(const std::vector<std::string>& variables) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  // Also prevents core dumps that are piped to a program: that ignores the limit.
  prctl(PR_SET_DUMPABLE, 0);
  const std::lock_guard lock(remembered_mutex());
  for (const std::string& name : variables) {
    if (const auto value = take_variable(name)) {
      remembered()[name] = trim(*value);
      keep_secret(trim(*value));
    }
  }
}

} // namespace winnow::agents
