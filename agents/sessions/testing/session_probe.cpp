#include "agents/sessions/testing/session_probe.h"

#include "agents/sessions/agent_session.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

namespace winnow::agents::test {
namespace {

namespace fs = std::filesystem;

// $1: a user's home, $2: another session, $3: a store, $4: the process that started the session.
constexpr const char* kProbe = R"sh(#!/bin/bash
exec 2>/dev/null
try() { name=$1; shift; if "$@"; then echo "$name	yes"; else echo "$name	no"; fi; }
reads() { head -c 1 "$1" | grep -q .; }
writes() { echo planted >"$1/planted"; }
try 'read its own task' reads TASK.md
try 'write in its workspace' writes .
try 'write in its own home' writes "$HOME"
try 'read its settings' reads "$HOME/.probe/settings"
try 'write its settings' eval 'echo planted >"$HOME/.probe/settings"'
try 'renew its login' eval 'echo renewed >"$HOME/.probe/login"'
try 'read the names of hosts' reads /etc/hosts
try "read a file of the user's home" reads "$1/secret"
try "write in the user's home" writes "$1"
try "read another session's kernel" reads "$2/workspace/kernel.cu"
try 'write in another session' writes "$2/workspace"
try 'read the store' reads "$3"
try 'write beside the store' writes "$(dirname "$3")"
try 'read the environment of Winnow' reads "/proc/$4/environ"
try 'signal Winnow' kill -0 "$4"
try 'write in /usr' test -w /usr/share
try 'change settings of the system' test -w /proc/sys/kernel/core_pattern
)sh";

struct Places {
  TemporaryDirectory home{"probe-home"}, store{"probe-store"}, program{"probe-agent"};
  Workspace other;

  Places() {
    fs::create_directory(home.path() / ".probe");
    write_file_atomic(home.path() / ".probe/settings", "settings\n");
    write_file_atomic(home.path() / ".probe/login", "login\n");
    write_file_atomic(home.path() / "secret", "secret\n");
    write_file_atomic(store.path() / "run.db", "store\n");
    write_file_atomic(other.folder() / "kernel.cu", "kernel\n");
    write_file_atomic(program.path() / "probe", kProbe);
    fs::permissions(program.path() / "probe", fs::perms(0755));
  }
};

/// The agent's login and settings are looked for in the user's home.
class OtherHome {
public:
  explicit OtherHome(const fs::path& home) : before_(std::getenv("HOME") != nullptr) {
    text_ = before_ ? std::getenv("HOME") : "";
    setenv("HOME", home.c_str(), 1);
  }
  ~OtherHome() { before_ ? setenv("HOME", text_.c_str(), 1) : unsetenv("HOME"); }
  OtherHome(const OtherHome&) = delete; // restores a variable
  OtherHome& operator=(const OtherHome&) = delete;

private:
  bool before_;
  std::string text_;
};

AgentAdapter adapter_of(const Places& places) {
  AgentAdapter adapter;
  adapter.name = "probe";
  adapter.command = {(places.program.path() / "probe").string(), places.home.path().string(),
                     places.other.root().string(), (places.store.path() / "run.db").string(),
                     std::to_string(getpid())};
  adapter.home_readable = {".probe/settings"};
  adapter.home_writable = {".probe/login"};
  return adapter;
}

} // namespace

std::vector<SessionAttempt> probe_session(bool fenced) {
  const Places places;
  const OtherHome home(places.home.path());
  const InstalledAgent agent = find_installed(adapter_of(places));
  Workspace workspace;
  ModelRequest request;
  request.messages = {{"user", "a task"}};
  workspace.fill(request, agent.adapter);
  SessionBounds bounds;
  bounds.time = std::chrono::seconds(30);
  const SessionOutcome outcome =
      run_agent(agent, workspace, "probe", "", fenced, "", bounds, [] { return false; });
  if (outcome.end != SessionEnd::Done) {
    throw Error("the probe failed: " + outcome.why);
  }
  std::vector<SessionAttempt> attempts;
  for (const std::string_view line : split_lines(outcome.out)) {
    const std::size_t tab = line.find('\t');
    attempts.push_back({std::string(line.substr(0, tab)), line.ends_with("\tyes")});
  }
  return attempts;
}

} // namespace winnow::agents::test
