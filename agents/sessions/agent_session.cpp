#include "agents/sessions/agent_session.h"

#include "agents/sessions/transcript.h"
#include "base/error.h"
#include "base/text.h"
#include "process/session_fence.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace winnow::agents {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using End = process::ChildResult::End;

constexpr std::size_t kSearchedBytes = std::size_t{16} << 10U; ///< of the end of what it printed
constexpr std::size_t kQuotedBytes = 300;

std::string filled_in(std::string word, const std::map<std::string, std::string>& values) {
  for (const auto& [name, value] : values) {
    const std::size_t at = word.find("{" + name + "}");
    if (at != std::string::npos) {
      return word.replace(at, name.size() + 2, value); // one in a word: a value may have braces
    }
  }
  return word;
}

std::vector<std::string> words_of(const InstalledAgent& agent, const Workspace& workspace,
                                  const std::string& prompt, const std::string& model,
                                  double dollars) {
  const std::map<std::string, std::string> values{
      {"prompt", prompt},
      {"prompt_file", (workspace.home() / "winnow-prompt").string()},
      {"workspace", workspace.folder().string()},
      {"model", model},
      {"dollars", fmt::format("{:.4g}", dollars)}};
  std::vector<std::string> words;
  const auto add = [&](const std::vector<std::string>& more) {
    for (const std::string& word : more) {
      words.push_back(filled_in(word, values));
    }
  };
  add(agent.adapter.command);
  words.front() = agent.program.string();
  if (!model.empty()) {
    add(agent.adapter.with_model);
  }
  if (dollars > 0) {
    add(agent.adapter.with_dollars);
  }
  return words;
}

process::Command command_of(const InstalledAgent& agent, const Workspace& workspace,
                            const std::vector<std::string>& words, bool fenced,
                            const std::string& server, const SessionBounds& bounds) {
  process::SessionFence fence;
  fence.limits.wall = bounds.time;
  fence.limits.output_bytes = bounds.output_bytes;
  fence.limits.file_bytes = bounds.file_bytes;
  fence.limits.processes = bounds.processes;
  fence.shown = {{workspace.root(), workspace.root(), true}};
  for (const fs::path& part : agent.parts) {
    fence.shown.push_back({part, part, false});
  }
  for (process::ShownPath& login : workspace.logins(agent.adapter)) {
    fence.shown.push_back(std::move(login));
  }
  std::error_code ignored;
  if (fs::path(server).is_absolute() && fs::exists(server, ignored)) {
    fence.shown.push_back({server, server, true});
  }
  process::Command command = process::session_command(fenced, words, fence);
  command.environment = agent.environment;
  command.environment["HOME"] = workspace.home().string();
  command.environment.try_emplace("PATH", "/usr/local/bin:/usr/bin:/bin");
  command.working_directory = workspace.folder();
  return command;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::string_view tail(std::string_view text) {
  return text.substr(text.size() - std::min(text.size(), kSearchedBytes));
}

/// What a failed session says about itself.
std::string complaint_of(const AgentAdapter& adapter, const SessionOutcome& outcome) {
  std::string text = outcome.output.errors + std::string(tail(outcome.err));
  if (adapter.output.form == AgentOutputForm::Form::Text) {
    text += tail(outcome.out);
  }
  return text;
}

bool shows(const AgentAdapter& adapter, const char* sign, const std::string& lower) {
  const auto texts = adapter.signs.find(sign);
  return texts != adapter.signs.end() &&
         std::any_of(texts->second.begin(), texts->second.end(), [&](const std::string& text) {
           return lower.find(lower_case(text)) != std::string::npos;
         });
}

std::string quoted(const std::string& text) {
  const std::string clean = without_keys(visible(to_valid_utf8(trim(text))));
  return clean.empty() ? "" : ": " + shortened(clean, kQuotedBytes);
}

void say(SessionOutcome& outcome, SessionEnd end, std::string why, std::string remedy) {
  outcome.end = end;
  outcome.why = std::move(why);
  outcome.remedy = std::move(remedy);
}

/// Of an agent that ended by itself.
void judge_end(const AgentAdapter& adapter, const process::ChildResult& result,
               SessionOutcome& outcome) {
  const std::string complaint = complaint_of(adapter, outcome);
  const std::string lower = lower_case(complaint);
  const std::string& name = adapter.name;
  const bool failed = result.end != End::Exited || result.exit_code != 0 || outcome.output.failed;
  if (shows(adapter, "dollars", lower)) {
    say(outcome, SessionEnd::DollarLimit, fmt::format("'{}' reached its limit of dollars", name),
        "raise endpoint.dollars_per_session");
  } else if (failed && shows(adapter, "login", lower)) {
    say(outcome, SessionEnd::NotLoggedIn,
        fmt::format("'{}' is not logged in{}", name, quoted(complaint)), adapter.login);
  } else if (failed && shows(adapter, "credit", lower)) {
    say(outcome, SessionEnd::NoCredit,
        fmt::format("'{}' has no credit left{}", name, quoted(complaint)),
        "look at the account of its provider");
  } else if (outcome.output.asked || shows(adapter, "confirm", lower)) {
    say(outcome, SessionEnd::Asked,
        fmt::format("'{}' asked for a confirmation, and nobody was there", name),
        "let `command` of the agent in agents.toml allow what it asks for: Winnow's fence is "
        "around "
        "it");
  } else if (failed) {
    say(outcome, SessionEnd::Crashed,
        fmt::format("'{}' {}{}", name, describe(result), quoted(complaint)),
        "start it by hand in a folder; its output is kept beside the store");
  } else {
    say(outcome, SessionEnd::Done, "", "");
  }
}

/// Looks at the folder from time to time while the agent runs.
class FolderWatch {
public:
  FolderWatch(fs::path folder, const SessionBounds& bounds)
      : folder_(std::move(folder)), bounds_(bounds) {}
  bool is_over() {
    if (excess_.empty() && Clock::now() >= next_) {
      excess_ = excess_of(folder_, bounds_.folder);
      next_ = Clock::now() + bounds_.between_looks;
    }
    return !excess_.empty();
  }
  const std::string& excess() const { return excess_; }

private:
  fs::path folder_;
  const SessionBounds& bounds_;
  Clock::time_point next_ = Clock::now() + bounds_.between_looks;
  std::string excess_;
};

void judge_result(const AgentAdapter& adapter, const process::ChildResult& result,
                  const FolderWatch& watch, SessionOutcome& outcome) {
  const std::string& name = adapter.name;
  switch (result.end) {
  case End::Cancelled:
    outcome.was_killed = true;
    if (watch.excess().empty()) {
      say(outcome, SessionEnd::Cancelled, "the session was cancelled", "");
    } else {
      say(outcome, SessionEnd::FolderLimit,
          fmt::format("the folder of '{}' {}", name, watch.excess()),
          "tell the agent in the prompt to keep its folder small");
    }
    return;
  case End::WallTimeout:
    outcome.was_killed = true;
    say(outcome, SessionEnd::TimeLimit,
        fmt::format("'{}' was still at work after {:.0f} s", name, result.wall_seconds),
        "raise endpoint.session_time");
    return;
  case End::OutputLimit:
    outcome.was_killed = true;
    say(outcome, SessionEnd::OutputLimit, fmt::format("'{}' {}", name, describe(result)),
        "let `command` in agents.toml ask for less output");
    return;
  case End::CpuTimeout:
  case End::SpawnFailed:
  case End::Exited:
  case End::Signaled:
    outcome.was_killed = result.end == End::Signaled;
    judge_end(adapter, result, outcome);
  }
}

} // namespace

bool is_set_up_wrong(SessionEnd end) {
  return end == SessionEnd::NotLoggedIn || end == SessionEnd::Asked ||
         end == SessionEnd::NoCredit || end == SessionEnd::Crashed;
}

SessionOutcome run_agent(const InstalledAgent& agent, const Workspace& workspace,
                         const std::string& prompt, const std::string& model, bool fenced,
                         const std::string& server, const SessionBounds& bounds,
                         const std::function<bool()>& cancelled) {
  if (!fenced) {
    workspace.link_logins(agent.adapter);
  }
  write_file_atomic(workspace.home() / "winnow-prompt", prompt, Readers::Owner);
  const process::Command command =
      command_of(agent, workspace, words_of(agent, workspace, prompt, model, bounds.dollars),
                 fenced, server, bounds);
  FolderWatch watch(workspace.root(), bounds);
  process::ChildResult result =
      process::run_child(command, agent.adapter.prompt_on_stdin ? prompt : std::string(),
                         [&] { return cancelled() || watch.is_over(); });
  SessionOutcome outcome;
  outcome.seconds = result.wall_seconds;
  outcome.output = read_agent_output(agent.adapter.output, result.out);
  outcome.out = std::move(result.out);
  outcome.err = std::move(result.err);
  judge_result(agent.adapter, result, watch, outcome);
  return outcome;
}

} // namespace winnow::agents
