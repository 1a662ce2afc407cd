#pragma once

namespace winnow::evaluators {

/// Whether these arguments name a hidden subcommand: then the program is an isolated worker
/// process. Every program that judges, or that tests what judges, asks this first.
bool is_worker(int argc, char** argv);
/// Runs the worker and returns the exit code. Until then no library of the command line has been
/// initialised.
int run_worker(int argc, char** argv);

} // namespace winnow::evaluators
