#include "evaluators/evaluation/precheck.h"

#include "base/error.h"
#include "base/text.h"
#include "process/child_process.h"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

using nlohmann::json;
using Outcome = PrecheckAnswer::Outcome;

constexpr std::size_t kMaxQuotedBytes = 400;

process::Command shell_command(const std::string& command, std::chrono::milliseconds timeout) {
  process::Command shell;
  shell.argv = {"/bin/sh", "-c", command};
  shell.working_directory = std::filesystem::current_path();
  shell.limits.wall = timeout;
  for (const char* name : {"PATH", "HOME", "LANG"}) {
    if (const char* value = std::getenv(name)) {
      shell.environment[name] = value;
    }
  }
  return shell;
}

PrecheckAnswer failed(const std::string& what) {
  return {Outcome::Failed, "the checker of --precheck-cmd " + what};
}

std::string_view last_line(std::string_view text) {
  std::string_view last;
  for (const std::string_view line : split_lines(text)) {
    last = trim(line).empty() ? last : line;
  }
  return last;
}

std::string refusal(const json& answer) {
  std::string text = answer.value("filter_reason", "no reason given");
  std::vector<std::string> patterns;
  for (const json& match : answer.value("matched_patterns", json::array())) {
    patterns.push_back(match.is_string() ? match.get<std::string>() : match.value("pattern", ""));
  }
  text += patterns.empty() ? "" : " (" + join(patterns, ", ") + ")";
  return truncate_text(to_valid_utf8(text), kMaxQuotedBytes);
}

PrecheckAnswer read_answer(std::string_view out) {
  try {
    const json answer = json::parse(last_line(out));
    return answer.at("should_filter").get<bool>()
               ? PrecheckAnswer{Outcome::Refused, refusal(answer)}
               : PrecheckAnswer{Outcome::Passed, {}};
  } catch (const json::exception&) {
    return failed(
        fmt::format("says '{}'; expected a last line such as {{\"should_filter\": false}}",
                    truncate_text(to_valid_utf8(last_line(out)), kMaxQuotedBytes)));
  }
}

} // namespace

PrecheckAnswer precheck(const std::string& command, std::string_view text,
                        std::chrono::milliseconds timeout, const std::function<bool()>& cancelled) {
  const process::ChildResult result =
      process::run_child(shell_command(command, timeout), text, cancelled);
  if (result.end == process::ChildResult::End::Cancelled) {
    return failed("was cancelled");
  }
  if (result.end == process::ChildResult::End::WallTimeout) {
    return failed(describe(result) + ": it must answer within that time");
  }
  if (result.end != process::ChildResult::End::Exited || result.exit_code != 0) {
    const std::string said = truncate_text(to_valid_utf8(trim(result.err)), kMaxQuotedBytes);
    return failed(describe(result) + (said.empty() ? "" : ": " + said));
  }
  return read_answer(result.out);
}

void require_precheck_program(const std::string& command) {
  const std::string word(trim(command).substr(0, trim(command).find_first_of(" \t\n")));
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789_./+-";
  if (word.empty() || word.find_first_not_of(kPlain) != std::string::npos) {
    return;
  }
  // The shell's own check of a path (command -v) accepts files that are not executable.
  const std::string test = word.find('/') == std::string::npos ? "command -v " : "test -x ";
  const process::ChildResult found =
      process::run_child(shell_command(test + word, kPrecheckTimeout), "");
  if (found.end != process::ChildResult::End::Exited || found.exit_code != 0) {
    throw UsageError(fmt::format("--precheck-cmd: there is no program '{}'", word),
                     "write a path to the checker (./my_checker), or a program of PATH, and make "
                     "it executable");
  }
}

} // namespace winnow::evaluators
