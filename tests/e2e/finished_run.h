#pragma once

#include <filesystem>
#include <string>

namespace winnow::test {

/// An uninterrupted run of tests/e2e/resume/resume.toml.
struct FinishedRun {
  std::filesystem::path store; ///< for reading and copying only: other suites use it, too
  std::string out;             ///< what the run wrote to stdout
};

/// Makes the run at the first call. Suites are processes of their own; they share one run through
/// $WINNOW_TEST_CACHE, if it is set. Throws if the run fails.
const FinishedRun& finished_run();

} // namespace winnow::test
