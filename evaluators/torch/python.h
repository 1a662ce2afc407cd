#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// What to do where PyTorch is missing.
extern const std::string_view kInstallTorch;

/// The path of a Python program that is named as on a command line. Throws UsageError if there is
/// none. `named_by`: the option or variable, for messages.
std::filesystem::path find_python(const std::string& name, std::string_view named_by = "--python");

/// $WINNOW_PYTHON, or "python3".
std::string default_python();

struct Python {
  std::filesystem::path program; ///< behind scripts such as those of pyenv
  /// The folders outside of /usr that it imports from, and the programs behind `program`.
  std::vector<std::filesystem::path> folders;
};
/// Runs the program once, without a fence. Throws Error when it does not answer.
Python ask_python(const std::filesystem::path& python);

} // namespace winnow::evaluators
