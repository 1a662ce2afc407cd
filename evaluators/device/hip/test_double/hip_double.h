// A libamdhip64 for tests: every function that the adapter uses, over host memory. It checks
// handles, sizes, lifetimes and arguments, queues work on streams until somebody waits for it, and
// fails whatever call it is told to. Tests link it and steer it through this header; the adapter
// finds it through WINNOW_HIP_LIBRARY.
#pragma once

#include <cstddef>

extern "C" {

/// A kernel as a host function: runs the whole grid. `context` as given when it was registered,
/// `arguments` as in hipModuleLaunchKernel.
using HipDoubleKernel = void (*)(void* context, void** arguments, const unsigned* grid,
                                 const unsigned* block);

/// Forgets everything: memory, modules, problems, failures to come, registered kernels.
void hip_double_reset();

/// Makes `run` what modules mean by `name`. `parameter_bytes`: the size of each parameter.
void hip_double_register(const char* name, HipDoubleKernel run, void* context,
                         const std::size_t* parameter_bytes, std::size_t parameters);

/// The first call of the function named `call` returns `result` (a hipError_t) after `skipped` good
/// ones. Calls that destroy something do so before they fail, as the real ones do.
void hip_double_fail(const char* call, int skipped, int result);

/// The next kernel that runs ends with `result`, which every later call returns, too.
void hip_double_fault_kernel(int result);

/// Misuse that was seen, a line each; empty when there was none.
const char* hip_double_problems();
/// What is alive, a line each: allocations, modules, graphs, streams, events, pinned memory.
const char* hip_double_leaks();
/// Names of the calls since the last reset, in order, a line each.
const char* hip_double_calls();
}
