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
  /// Where it finds compiled files of PyTorch (PYTHONPYCACHEPREFIX); empty: beside the sources.
  std::filesystem::path bytecode;
};
/// Runs the program once, without a fence. Where nobody has compiled the Python files of PyTorch,
/// it compiles them to a folder of the cache: a fenced child may not keep what it compiles, and
/// would compile a thousand files at each start. Throws Error when the program does not answer.
Python ask_python(const std::filesystem::path& python);

} // namespace winnow::evaluators
