#include "agents/prompts/prompts.h"

#include "agents/prompts/prompt_recipe.h"
#include "base/digest.h"
#include "base/embedded_file.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

#include <fmt/format.h>

namespace winnow::agents {

const std::vector<EmbeddedFile>& embedded_files();

namespace {

constexpr std::uint64_t kMaxTemplateBytes = 1U << 20U;

/// Editors and git write such files.
bool is_of_a_program(const std::string& name) {
  return name.starts_with('.') || name.ends_with('~');
}

/// Throws UsageError unless the directory has templates, and nothing else.
void check_files(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  for (const Section& section : recipe()) {
    names.push_back(fmt::format("{}.md", section.file));
  }
  std::error_code code;
  std::filesystem::directory_iterator files(directory, code);
  if (code) {
    throw UsageError(
        fmt::format("cannot read the prompt directory {}: {}", directory.string(), code.message()),
        "name a folder of templates in prompts.directory");
  }
  bool has_template = false;
  for (const auto& entry : files) {
    const std::string name = entry.path().filename().string();
    const bool is_known = contains(names, name);
    if (!is_of_a_program(name) && (!is_known || !entry.is_regular_file())) {
      throw UsageError(fmt::format("{}: no prompt template has this name{}", entry.path().string(),
                                   suggestion(name.substr(0, name.find('.')) + ".md", names)),
                       "rename it, or move it out of the prompt directory");
    }
    has_template = has_template || is_known;
  }
  if (!has_template) {
    throw UsageError(directory.string() + ": this prompt directory has no prompt template",
                     "put files there that have names of built-in templates, such as "
                     "question_improve.md (docs/prompts.md)");
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

} // namespace

PromptTemplates::PromptTemplates(const std::filesystem::path& directory) {
  if (!directory.empty()) {
    check_files(directory);
  }
  for (const Section& section : recipe()) {
    const std::string file(section.file);
    templates_.emplace(file, load_template(directory, file, section.placeholders));
  }
}

std::map<std::string, std::string> own_templates(const std::filesystem::path& directory) {
  std::map<std::string, std::string> digests;
  for (const Section& section : recipe()) {
    const std::string name = fmt::format("{}.md", section.file);
    if (!directory.empty() && std::filesystem::exists(directory / name)) {
      digests[name] = sha256_hex(read_file(directory / name, kMaxTemplateBytes));
    }
  }
  return digests;
}

std::string own_templates_text(const std::filesystem::path& directory) {
  std::string text;
  for (const Section& section : recipe()) {
    const std::string file(section.file);
    if (directory.empty() || !std::filesystem::exists(directory / (file + ".md"))) {
      continue;
    }
    const TextTemplate own = load_template(directory, file, section.placeholders);
    std::vector<std::string> unused;
    for (const std::string& name : section.placeholders) {
      if (!own.uses(name)) {
        unused.push_back("{{" + name + "}}");
      }
    }
    text += (text.empty() ? "own prompt templates in " + directory.string() + ": " : ", ") + file +
            ".md";
    text += unused.empty() ? "" : " (without " + join(unused, ", ") + ")";
  }
  return text;
}

std::vector<SectionText> PromptTemplates::sections(const ProposalContext& context) const {
  require_attempts(context);
  const Operators wanted = operator_bit(context.op);
  std::vector<SectionText> filled;
  for (const Section& section : recipe()) {
    const auto values = (section.operators & wanted) != 0 ? section.render(context) : std::nullopt;
    if (values) {
      SectionText& text = filled.emplace_back();
      text.name = section.name;
      text.role = section.role;
      text.stability = section.stability;
      text.text = cut_to_budget(templates_.at(std::string(section.file)).fill(*values),
                                section.budget, text.left_out);
    }
  }
  return filled;
}

std::string PromptTemplates::rules(const ProposalContext& context) const {
  ProposalContext of_any_kernel = context;
  of_any_kernel.op = "seed"; // needs no earlier kernel
  std::string text;
  for (const SectionText& section : sections(of_any_kernel)) {
    text += section.stability == Stability::Volatile ? "" : section.text;
  }
  return text;
}

std::vector<Message> PromptTemplates::proposal(const ProposalContext& context) const {
  std::vector<Message> messages;
  Stability last = Stability::Stable;
  for (SectionText& section : sections(context)) {
    if (messages.empty() || messages.back().role != section.role || last != section.stability) {
      messages.push_back({section.role, "", section.stability != Stability::Volatile});
      last = section.stability;
    }
    messages.back().text += section.text;
  }
  return messages;
}

} // namespace winnow::agents
