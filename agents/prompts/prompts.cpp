#include "agents/prompts/prompts.h"

#include "agents/prompts/prompt_recipe.h"
#include "base/digest.h"
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

void refuse_unknown_files(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  for (const Section& section : recipe()) {
    names.push_back(fmt::format("{}.md", section.file));
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

} // namespace

PromptTemplates::PromptTemplates(const std::filesystem::path& directory) {
  if (!directory.empty()) {
    refuse_unknown_files(directory);
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
