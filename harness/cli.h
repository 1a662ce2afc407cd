#pragma once

#include <string>
#include <vector>

namespace winnow::harness {

/// The command line without the program's name. Results go to stdout, everything else to stderr;
/// returns the process's exit code (exit_codes.h) and never throws.
int run_cli(const std::vector<std::string>& arguments);

/// Whether these arguments name a hidden subcommand: the program started again as a fenced worker.
bool is_worker(int argc, char** argv);
/// Runs it; no library that the command line needs is touched before.
int run_worker(int argc, char** argv);

} // namespace winnow::harness
