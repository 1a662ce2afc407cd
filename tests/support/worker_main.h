#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow::test {

/// A hidden subcommand of a test program. It gets the arguments after its name and returns the exit
/// code.
struct HiddenSubcommand {
  std::string_view name; ///< "_compile"
  int (*run)(std::vector<std::string> arguments);
};

/// Each test program that links winnow_test_worker_main defines this function. `_probe` always
/// exists.
const std::vector<HiddenSubcommand>& hidden_subcommands();

} // namespace winnow::test
