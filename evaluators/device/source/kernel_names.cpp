#include "evaluators/device/source/kernel_names.h"

#include "base/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using Kind = Token::Kind;

// True if macros may build kernel names. Then only the compiler can tell which kernels exist.
bool macros_may_define_kernels(const std::vector<Token>& tokens) {
  return std::any_of(tokens.begin(), tokens.end(), [](const Token& token) {
    return token.kind == Kind::Directive &&
           (token.text.find("##") != std::string_view::npos ||
            token.text.find("__global__") != std::string_view::npos);
  });
}

using Parameters = std::map<std::string, std::int64_t>;

// "stage1<{BLOCK}, float>", with a note on what the plan has to add.
std::string name_to_write(const std::string& kernel, const KernelDeclaration& declaration,
                          const Parameters& parameters) {
  std::vector<std::string> arguments;
  std::string remark;
  for (const TemplateParameter& parameter : declaration.template_parameters) {
    if (parameter.optional) {
      continue;
    }
    const std::string name = parameter.name.empty() ? "VALUE" : parameter.name;
    arguments.push_back(parameter.type ? "float" : "{" + name + "}");
    if (parameter.type) {
      remark += ", with the type that you mean in place of float";
    } else if (parameters.count(name) == 0) {
      remark +=
          fmt::format(", and add {0} to \"params\" (or write a number in place of {{{0}}})", name);
    }
  }
  return fmt::format("write \"{}<{}>\" in the plan{}", kernel.substr(0, kernel.find('<')),
                     join(arguments, ", "), remark);
}

std::size_t count_arguments(const std::string& kernel) {
  const std::vector<Token> tokens = tasks::tokenize(kernel);
  const auto open =
      static_cast<std::size_t>(std::find_if(tokens.begin(), tokens.end(),
                                            [](const Token& token) { return token.text == "<"; }) -
                               tokens.begin());
  return split_list(tokens, open + 1, find_close(tokens, open)).size();
}

std::string wrong_count(const std::string& kernel, const KernelDeclaration& declaration) {
  const std::vector<TemplateParameter>& all = declaration.template_parameters;
  const std::size_t given = count_arguments(kernel);
  const auto needed = static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const auto& one) { return !one.optional; }));
  const bool open_ended =
      std::any_of(all.begin(), all.end(), [](const auto& one) { return one.pack; });
  if (given >= needed && (open_ended || given <= all.size())) {
    return {};
  }
  return fmt::format("{}{} template argument{}, and the plan's \"{}\" has {}",
                     needed == all.size() ? ""
                     : given < needed     ? "at least "
                                          : "at most ",
                     given < needed ? needed : all.size(), all.size() == 1 ? "" : "s", kernel,
                     given);
}

// Checks a kernel that the source declares, because the compilers' messages for this mistake do not
// help.
std::optional<SourceMistake> check_template_arguments(const std::string& kernel,
                                                      const std::string& name,
                                                      const SourceScan& scan,
                                                      const Parameters& parameters) {
  const KernelDeclaration* primary = nullptr;
  std::size_t primaries = 0;
  std::size_t others = 0;
  for (const KernelDeclaration& one : scan.kernels) {
    if (one.name == name && !one.template_parameters.empty()) {
      primary = primaries++ == 0 || one.definition ? &one : primary;
    } else if (one.name == name && !one.specialisation) {
      ++others;
    }
  }
  const bool has_arguments = kernel.find('<') != std::string::npos;
  if (primary == nullptr || others != 0) {
    return std::nullopt;
  }
  const std::string wrong = !has_arguments   ? "is a template"
                            : primaries == 1 ? wrong_count(kernel, *primary)
                                             : "";
  if (wrong.empty()) {
    return std::nullopt;
  }
  return SourceMistake{primary->line,
                       fmt::format("kernel '{}' {}{}: {}", name, has_arguments ? "takes " : "",
                                   wrong, name_to_write(kernel, *primary, parameters)),
                       primary->column};
}

std::optional<SourceMistake> check_kernel(const std::string& kernel, const SourceScan& scan,
                                          const std::vector<Token>& tokens,
                                          const Parameters& parameters) {
  const std::string name = kernel_base_name(kernel);
  if (name.empty()) {
    return SourceMistake{0,
                         "'" + kernel + "' is not the name of a kernel: write NAME or NAME<ARGS>"};
  }
  const KernelDeclaration* first = nullptr;
  std::vector<std::string> known;
  bool declared = false;
  for (const KernelDeclaration& candidate : scan.kernels) {
    known.push_back(candidate.name);
    declared = declared || candidate.name == name;
    if (candidate.name != name || !candidate.definition || candidate.specialisation ||
        candidate.conditional) {
      continue;
    }
    if (first != nullptr) {
      return SourceMistake{candidate.line, fmt::format("kernel '{}' is defined twice, in lines {} "
                                                       "and {}: keep one, or rename one",
                                                       name, first->line, candidate.line)};
    }
    first = &candidate;
  }
  if (macros_may_define_kernels(tokens)) {
    return std::nullopt;
  }
  if (declared) {
    return check_template_arguments(kernel, name, scan, parameters);
  }
  const auto use = std::find_if(tokens.begin(), tokens.end(),
                                [&](const Token& token) { return token.text == name; });
  if (use != tokens.end()) {
    return SourceMistake{use->line, "the plan launches '" + name +
                                        "', which is not declared __global__ in the source"};
  }
  return SourceMistake{0, "the plan launches kernel '" + name +
                              "', which the source does not define" + suggestion(name, known)};
}

} // namespace

std::string kernel_base_name(const std::string& name) {
  const std::vector<Token> tokens = tasks::tokenize(name);
  std::size_t at = 0;
  while (at + 1 < tokens.size() && tokens[at].kind == Kind::Identifier &&
         tokens[at + 1].text == "::") {
    at += 2;
  }
  if (at >= tokens.size() || tokens[at].kind != Kind::Identifier) {
    return {};
  }
  const bool plain = at + 1 == tokens.size();
  const bool instance = at + 1 < tokens.size() && tokens[at + 1].text == "<" &&
                        find_close(tokens, at + 1) == tokens.size() - 1;
  const bool clean = name.find_first_of(";{}#\"\\\n\r") == std::string::npos;
  return (plain || instance) && clean ? std::string(tokens[at].text) : std::string();
}

std::optional<SourceMistake> check_kernels(const std::vector<std::string>& kernels,
                                           const SourceScan& scan, const std::vector<Token>& tokens,
                                           const Parameters& parameters) {
  for (const std::string& kernel : kernels) {
    if (auto mistake = check_kernel(kernel, scan, tokens, parameters)) {
      return mistake;
    }
  }
  return std::nullopt;
}

} // namespace winnow::evaluators
