#include "harness/run/prompts/source_facts.h"

#include "tasks/plan/kernel_file.h"
#include "tasks/source/tokens.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace winnow::harness {
namespace {

/// The class of an identifier; empty: none.
std::string_view class_of(std::string_view word) {
  constexpr std::array kVectors{"2", "3", "4", "2_rn"};
  constexpr std::array kElements{"float",  "double",        "int",      "uint",  "half",
                                 "__half", "__nv_bfloat16", "bfloat16", "short", "char"};
  if (word == "__shared__") {
    return "shared arrays";
  }
  if (word.starts_with("__sync") || word.find("barrier") != std::string_view::npos) {
    return "barriers";
  }
  if (word.starts_with("__shfl") || word.starts_with("__reduce") || word.starts_with("__ballot")) {
    return "warp operations";
  }
  if (word.starts_with("atomic")) {
    return "atomics";
  }
  if (word == "for" || word == "while") {
    return "loops";
  }
  if (word == "if") {
    return "branches";
  }
  if (word == "asm") {
    return "inline assembly";
  }
  if (word.find("mma") != std::string_view::npos) {
    return "matrix operations";
  }
  for (const std::string_view element : kElements) {
    if (word.starts_with(element) &&
        std::count(kVectors.begin(), kVectors.end(), word.substr(element.size())) > 0) {
      return "vector types";
    }
  }
  return {};
}

} // namespace

std::map<std::string, double> source_facts(std::string_view text) {
  std::map<std::string, double> facts{
      {"shared arrays", 0}, {"barriers", 0}, {"warp operations", 0}, {"atomics", 0},
      {"loops", 0},         {"branches", 0}, {"inline assembly", 0}, {"matrix operations", 0},
      {"vector types", 0}};
  const std::string source = tasks::normalise_source(text);
  tasks::SourceMarks marks;
  const std::vector<tasks::Token> tokens = tasks::tokenize(source, &marks);
  for (const tasks::Token& token : tokens) {
    if (token.kind == tasks::Token::Kind::Identifier) {
      if (const std::string_view name = class_of(token.text); !name.empty()) {
        ++facts[std::string(name)];
      }
    }
  }
  facts["log of tokens"] = std::log1p(static_cast<double>(tokens.size()));
  const tasks::KernelFileResult parsed = tasks::parse_kernel_file(text, "candidate.cu");
  if (parsed.kernel_file) {
    facts["launches"] = static_cast<double>(parsed.kernel_file->plan.launches.size());
    facts["parameters"] = static_cast<double>(parsed.kernel_file->plan.parameters.size());
  }
  return facts;
}

} // namespace winnow::harness
