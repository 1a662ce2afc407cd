#pragma once

#include "tasks/plan/kernel_file.h"
#include "tasks/task.h"

#include <string>
#include <vector>

namespace winnow::tasks {

/// A kernel to be written as a CUDA program of its own.
struct HostProgram {
  const KernelFile& file;
  const Task& task;
  ParameterChoice choice;
  std::vector<Shape> shapes; ///< none is hidden
  std::string title;         ///< one line about the kernel
  std::string architecture;  ///< "sm_90a"; not an NVIDIA one: that of the building machine
};

/// The text of main.cu: the kernel, and the launch plan as host code. The program needs only the
/// CUDA toolkit. For each shape it allocates the buffers, draws inputs, compares the outputs with
/// those of the task's reference, and times the plan with events. Throws Error if the task's
/// reference has mistakes, UsageError if the program cannot be written: a kernel's name depends on
/// a number that C++ does not know before the program runs.
std::string host_program(const HostProgram& program);

/// The command that builds main.cu: "nvcc -O3 ... main.cu -o kernel".
std::string build_command(const HostProgram& program);

} // namespace winnow::tasks
