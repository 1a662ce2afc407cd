#include "harness/mcp/tool_call.h"

#include "base/error.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "base/text/shell_word.h"
#include "harness/exit/exit_codes.h"
#include "harness/mcp/argument_check.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kReportEvery{1};
constexpr std::size_t kMostErrorBytes = 4000;

/// Speaks of a running command once a second, and at once when a kernel was judged.
class CommandProgress {
public:
  CommandProgress(std::string name, std::size_t kernels, const ToolWatch& watch)
      : name_(std::move(name)), kernels_(kernels), watch_(watch) {}

  bool goes_on() {
    if (Clock::now() - last_ >= kReportEvery) {
      report();
    }
    return watch_.goes_on();
  }
  void see(std::string_view line) {
    // `winnow eval --json` prints a document for each kernel, of several kernels as an array.
    if (kernels_ > 1 && (line.starts_with('{') || line.starts_with("  {"))) {
      judged_ = std::min(judged_ + 1, kernels_);
      report();
    }
  }

private:
  void report() {
    last_ = Clock::now();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(last_ - start_).count();
    const std::string count = kernels_ > 1 ? fmt::format("{}/{} judged, ", judged_, kernels_) : "";
    watch_.report(fmt::format("{}: {}{} s", name_, count, seconds));
  }

  std::string name_;
  std::size_t kernels_;
  const ToolWatch& watch_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
  std::size_t judged_ = 0;
};

nlohmann::json text_block(const std::string& text) {
  return {{"type", "text"}, {"text", to_valid_utf8(text)}};
}

/// Documents of a command on one line, which needs fewer tokens than an indented one. Structured
/// content must be an object, so an array becomes its member `items`.
nlohmann::json output_result(const std::string& out) {
  nlohmann::json document = nlohmann::json::parse(out, nullptr, false);
  if (!document.is_structured()) {
    return {{"content", {text_block(out)}}};
  }
  nlohmann::json result{{"content", {text_block(json_line(document))}}};
  result["structuredContent"] =
      document.is_array() ? nlohmann::json{{"items", std::move(document)}} : std::move(document);
  return result;
}

/// The end of what a failed command said.
std::string last_words(const std::string& text) {
  const std::string_view words = trim(text);
  return std::string(
      words.substr(words.size() > kMostErrorBytes ? words.size() - kMostErrorBytes : 0));
}

std::string shown_command(const std::vector<std::string>& arguments) {
  std::string text = "winnow";
  for (const std::string& word : arguments) {
    text += " " + shell_word(word);
  }
  return text;
}

nlohmann::json failed_result(const CommandResult& command, const std::string& line) {
  if (!command.failure.empty()) {
    nlohmann::json result =
        tool_error(fmt::format("the command {}: {}", command.failure, line),
                   "ask again; if it happens again, run this command in a shell to see why");
    result["content"].push_back(text_block(last_words(command.err)));
    return result;
  }
  const nlohmann::json said = nlohmann::json::parse(command.out, nullptr, false);
  if (said.is_object() && said.contains("error") && said["error"].is_string()) {
    nlohmann::json result =
        tool_error(said["error"].get<std::string>(),
                   said.value("remedy", nlohmann::json()).is_string() ? said["remedy"] : "");
    result["structuredContent"] = said;
    return result;
  }
  nlohmann::json result = output_result(command.out);
  if (trim(command.out).empty()) {
    result["content"] = nlohmann::json::array();
  }
  const std::string words = last_words(command.err);
  result["content"].push_back(text_block(
      words.empty() ? fmt::format("error: exit code {} of {}", command.exit_code, line) : words));
  result["isError"] = true;
  return result;
}

bool is_answer(const CommandResult& result) {
  return result.failure.empty() && (result.exit_code == to_int(ExitCode::Done) ||
                                    result.exit_code == to_int(ExitCode::NotCorrect));
}

std::optional<nlohmann::json> run_tool(const Tool& tool, const nlohmann::json& arguments,
                                       const std::vector<std::string>& server,
                                       CommandRunner& runner, const ToolWatch& watch) {
  KernelFiles files;
  const ToolCommand command = tool.command(arguments, files);
  const std::vector<std::string> line = command_line(command, server);
  CommandProgress progress(tool.name, tool.name == "evaluate" ? command.operands.size() - 1 : 0,
                           watch);
  CommandResult result = runner.run(line, {[&] { return progress.goes_on(); },
                                           [&](std::string_view text) { progress.see(text); }});
  if (result.cancelled) {
    return std::nullopt;
  }
  result.out = files.with_given_names(std::move(result.out));
  result.err = files.with_given_names(std::move(result.err));
  return is_answer(result) ? output_result(result.out)
                           : failed_result(result, files.with_given_names(shown_command(line)));
}

} // namespace

std::vector<std::string> command_line(const ToolCommand& command,
                                      const std::vector<std::string>& server) {
  std::vector<std::string> line = command.words;
  line.insert(line.end(), command.options.begin(), command.options.end());
  line.insert(line.end(), server.begin(), server.end());
  if (!command.operands.empty()) {
    line.emplace_back("--");
    line.insert(line.end(), command.operands.begin(), command.operands.end());
  }
  for (const std::string& word : line) {
    if (word.find('\0') != std::string::npos) {
      throw UsageError("an argument has a NUL character", "leave the character out");
    }
  }
  return line;
}

bool is_at_server(const std::vector<std::string>& server) {
  return std::any_of(server.begin(), server.end(),
                     [](const auto& option) { return option.starts_with("--server="); });
}

nlohmann::json tool_error(const std::string& what, const std::string& remedy) {
  const std::string text = "error: " + what + (remedy.empty() ? "" : "\nremedy: " + remedy);
  return {{"content", {text_block(text)}}, {"isError", true}};
}

std::optional<nlohmann::json> call_tool(const Tool& tool, const nlohmann::json& arguments,
                                        const std::vector<std::string>& server,
                                        CommandRunner& runner, const ToolWatch& watch) {
  for (const std::string& name :
       is_at_server(server) ? tool.here_only : std::vector<std::string>()) {
    if (arguments.contains(name)) {
      return tool_error(
          fmt::format("{}: '{}' cannot be chosen, because a server judges and decides "
                      "it",
                      tool.name, name),
          fmt::format("leave '{}' out", name));
    }
  }
  const std::string fault = fault_of_value(tool.arguments, arguments, "");
  if (!fault.empty()) {
    return tool_error(tool.name + ": " + fault, "see the inputSchema of the tool");
  }
  try {
    return run_tool(tool, arguments, server, runner, watch);
  } catch (const Error& error) {
    return tool_error(error.what(), error.remedy());
  } catch (const std::exception& error) { // no file can be written, no memory is left
    return tool_error(error.what(), "");
  }
}

} // namespace winnow::harness
