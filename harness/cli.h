#pragma once

#include <string>
#include <vector>

namespace winnow::harness {

/// Runs the program with these arguments, without the program's name. Results go to stdout,
/// everything else to stderr. Returns the process's exit code (exit_codes.h) and never throws.
int run_cli(const std::vector<std::string>& arguments);

} // namespace winnow::harness
