#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace winnow::harness {

/// A reply of a model that saw no other reply for the task.
struct ModelSuggestion {
  bool is_kernel_file = false; ///< the reply has a kernel file, right or wrong
  bool is_correct = false;
  std::string digest; ///< of the kernel file; equal texts have equal digests
};

/// As many suggestions as the study looks at.
inline constexpr std::size_t kSuggestions = 10;

/// The proficiency that the first ten suggestions for a task show, from 0 to 1. The levels are
/// those of Godoy, Valero-Lara, Teranishi, Balaprakash and Vetter, "Evaluation of OpenAI Codex for
/// HPC Parallel Programming Models Kernel Generation" (arXiv 2306.15121):
/// - 0, non-knowledge: no suggestion is correct,
/// - 0.25, novice: at least one is correct, but another is not in the form that the prompt asks
/// for,
/// - 0.5, learner: at least one is correct, and others in that form are wrong,
/// - 0.75, proficient: all are correct,
/// - 1, expert: there is one piece of code only, and that code is correct.
/// The form is the programming model in the study, and a kernel file here. Ten equal kernel files
/// are one piece of code. nullopt: there are fewer than ten suggestions.
std::optional<double> proficiency(const std::vector<ModelSuggestion>& suggestions);

} // namespace winnow::harness
