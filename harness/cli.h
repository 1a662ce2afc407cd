#pragma once

#include <string>
#include <vector>

namespace winnow::harness {

/// Runs the program with these arguments, without the program's name. Results go to stdout,
/// everything else to stderr. Returns the process's exit code (exit_codes.h) and never throws.
int run_cli(const std::vector<std::string>& arguments);

/// Whether these arguments name a hidden subcommand: then the program is an isolated worker
/// process.
bool is_worker(int argc, char** argv);
/// Runs the worker. Until then no library of the command line has been initialised.
int run_worker(int argc, char** argv);

} // namespace winnow::harness
