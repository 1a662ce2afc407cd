#include "agents/prompts.h"

#include "agents/prompt_sections.h"
#include "base/embedded_file.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::agents {

const std::vector<EmbeddedFile>& embedded_files();

namespace {

constexpr std::uint64_t kMaxTemplateBytes = 1U << 20U;

/// All templates with their allowed placeholders.
const std::map<std::string, std::vector<std::string>>& known_templates() {
  static const std::map<std::string, std::vector<std::string>> known{
      {"system", {}},
      {"kernel_file", {}},
      {"task",
       {"title", "name", "description", "axes", "tensors", "scalars", "tolerance", "operations",
        "bytes", "shapes", "index_range", "reference_python"}},
      {"device", {"device", "device_name", "facts", "notes"}},
      {"device_cpu", {}},
      {"baseline", {"code", "timings"}},
      {"best", {"number", "speedup", "code", "feedback"}},
      {"history", {"lines"}},
      {"previous", {"number", "code", "feedback"}},
      {"question", {"advice"}},
      {"question_json", {"advice"}},
  };
  return known;
}

void refuse_unknown_files(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  for (const auto& [name, placeholders] : known_templates()) {
    names.push_back(name + ".md");
  }
  std::error_code code;
  std::filesystem::directory_iterator files(directory, code);
  if (code) {
    throw UsageError(
        fmt::format("cannot read the prompt directory {}: {}", directory.string(), code.message()));
  }
  for (const auto& entry : files) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".md" &&
        std::find(names.begin(), names.end(), name) == names.end()) {
      throw UsageError(fmt::format("{}: no prompt template has this name{}", entry.path().string(),
                                   suggestion(name, names)));
    }
  }
}

std::string embedded_text(const std::string& file) {
  for (const EmbeddedFile& embedded : embedded_files()) {
    if (embedded.path == file) {
      return std::string(embedded.text);
    }
  }
  throw Error(fmt::format("the prompt template {} is missing from this build", file));
}

TextTemplate load_template(const std::filesystem::path& directory, const std::string& name,
                           const std::vector<std::string>& placeholders) {
  const std::string file = name + ".md";
  const std::filesystem::path override_path = directory / file;
  if (!directory.empty() && std::filesystem::exists(override_path)) {
    return {read_file(override_path, kMaxTemplateBytes), override_path.string(), placeholders};
  }
  return {embedded_text(file), file, placeholders};
}

std::string history_lines(const ProposalContext& context) {
  std::string lines =
      context.older > 0 ? fmt::format("- ({} older ones)\n", context.older) : std::string();
  for (const Attempt& attempt : context.history) {
    lines += history_line(attempt) + "\n";
  }
  return lines;
}

} // namespace

PromptTemplates::PromptTemplates(const std::filesystem::path& directory) {
  if (!directory.empty()) {
    refuse_unknown_files(directory);
  }
  for (const auto& [name, placeholders] : known_templates()) {
    templates_.emplace(name, load_template(directory, name, placeholders));
  }
}

std::string PromptTemplates::fill(const std::string& name, const Values& values) const {
  return templates_.at(name).fill(values);
}

namespace {

std::string account_of(const Attempt& attempt) {
  return feedback_text(attempt.evaluation) +
         (attempt.limits.empty()
              ? ""
              : "\nWhat limits it, by the hardware's counters:\n" + attempt.limits);
}

} // namespace

std::vector<Message> PromptTemplates::proposal(const ProposalContext& context) const {
  std::string user = fill("task", task_values(*context.task, context.device));
  user += fill("device", {{"device", context.device},
                          {"device_name", context.device_name},
                          {"facts", facts_text(context.facts)},
                          {"notes", context.device == "cpu" ? fill("device_cpu", {}) : ""}});
  user += fill("baseline", {{"code", fenced_code(context.baseline.text)},
                            {"timings", feedback_text(context.baseline.evaluation)}});
  // The part of the prompt that is the same for all calls.
  Message stable{"user", std::move(user), true};
  user.clear();
  if (context.best) {
    user += fill("best", {{"number", std::to_string(context.best->number)},
                          {"speedup", fmt::format("{:.2f}x", context.best->evaluation.speedup)},
                          {"code", fenced_code(context.best->text)},
                          {"feedback", account_of(*context.best)}});
  }
  if (!context.history.empty()) {
    user += fill("history", {{"lines", history_lines(context)}});
  }
  const Lesson lesson = lesson_of(context);
  if (context.previous && !lesson.is_best) {
    user += fill("previous", {{"number", std::to_string(context.previous->number)},
                              {"code", lesson.show_code ? fenced_code(context.previous->text) : ""},
                              {"feedback", account_of(*context.previous)}});
  }
  user += fill(context.structured ? "question_json" : "question", {{"advice", lesson.advice}});
  return {{"system", fill("system", {}) + fill("kernel_file", {}), true},
          std::move(stable),
          {"user", std::move(user)}};
}

} // namespace winnow::agents
