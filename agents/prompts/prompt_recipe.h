// The recipe of a prompt: which sections it has, in which order, and who renders them. For the
// prompt*.cpp files of this folder only.
#pragma once

#include "agents/prompts/prompts.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::agents {

/// The values of a template's placeholders.
using Values = std::map<std::string, std::string>;

/// A set of operators: bit i stands for operator_names()[i]. The bits of role_operator_names()
/// follow.
using Operators = unsigned;

struct Section {
  std::string_view name;
  std::string_view file; ///< template without ".md"
  std::vector<std::string> placeholders;
  /// nullopt: this prompt has no such section.
  std::optional<Values> (*render)(const ProposalContext& context);
  std::string_view role;
  Stability stability = Stability::Stable;
  std::size_t budget = 0; ///< bytes; what is over it is cut
  Operators operators = 0;
};

/// All sections in the order of the prompt. Stable ones come first, then slow ones. The system's
/// sections are the same for all tasks on a device.
const std::vector<Section>& recipe();

/// The bit of an operator. Throws Error for an unknown name.
Operators operator_bit(std::string_view name);

/// Throws Error if an attempt that the operator needs is missing.
void require_attempts(const ProposalContext& context);

/// The beginning of `text`, cut at a line end, with a line that says so. Closes a fenced block that
/// the cut leaves open. `left_out` gets the number of bytes that were cut.
std::string cut_to_budget(const std::string& text, std::size_t budget, std::size_t& left_out);

} // namespace winnow::agents
