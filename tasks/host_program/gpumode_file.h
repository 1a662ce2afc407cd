#pragma once

#include "tasks/host_program/host_program.h"

#include <string>
#include <vector>

namespace winnow::tasks {

/// Where GPU MODE ranks a problem.
struct GpuModeBoard {
  std::string leaderboard;       ///< its name
  std::vector<std::string> gpus; ///< on which it ranks, as GPU MODE names them; may be empty
};

/// submission.py for a task of `winnow tasks import gpumode`: the module, the kernel and class
/// ModelNew as in kernelbench_file(), and custom_kernel(data). The host code launches on the
/// default stream and names none, because GPU MODE's server refuses files with this word. Throws
/// UsageError for other tasks, and as kernelbench_file().
std::string gpumode_file(const HostProgram& program, const GpuModeBoard& board);

/// What a user must know before GPU MODE judges the file: lines with the word that its server
/// refuses, and sizes of the task that are smaller than the benchmark's. Sentences.
std::vector<std::string> gpumode_notes(const Task& task, const std::string& text);

} // namespace winnow::tasks
