#pragma once

#include <filesystem>
#include <string>

namespace winnow::test {

/// An uninterrupted run of tests/e2e/resume/resume.toml.
struct FinishedRun {
  std::filesystem::path store; ///< for reading and copying only: other suites use it, too
  std::string out;             ///< what the run wrote to stdout
};

/// From now on this process and its children use a copy of the catalogue without baselines for the
/// CPU device. Beside baseline.cu, whose barriers are slow there, the speeds of the kernels of
/// tests/e2e/resume/ differ by large factors, also on a busy machine.
void use_slow_baselines();

/// Makes the run at the first call, with use_slow_baselines(). Suites are processes of their own;
/// they share one run through $WINNOW_TEST_CACHE, if it is set. Throws if the run fails.
const FinishedRun& finished_run();

} // namespace winnow::test
