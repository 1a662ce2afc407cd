// A fake libamdhip64 for tests: every function that the adapter uses, over host memory. It checks
// handles, sizes, lifetimes and arguments. It queues work on streams until a call waits for it. It
// fails the calls that a test selects. Tests link it and control it through this header; the
// adapter finds it through WINNOW_HIP_LIBRARY.
#pragma once

#include <cstddef>

extern "C" {

/// A kernel as a host function, which runs the whole grid. `context`: the value from the
/// registration. `arguments`: as in hipModuleLaunchKernel.
using HipDoubleKernel = void (*)(void* context, void** arguments, const unsigned* grid,
                                 const unsigned* block);

/// Clears everything: memory, modules, problems, failures to inject, registered kernels.
void hip_double_reset();

/// Registers `run` as the kernel `name` of modules. `parameter_bytes`: the size of each parameter.
void hip_double_register(const char* name, HipDoubleKernel run, void* context,
                         const std::size_t* parameter_bytes, std::size_t parameters);

/// After `skipped` successful calls, the next call of the function `call` returns `result` (a
/// hipError_t). As with the real runtime, a call that destroys an object does so before it fails.
void hip_double_fail(const char* call, int skipped, int result);

/// The next kernel that runs ends with `result`. Every later call returns `result`, too.
void hip_double_fault_kernel(int result);

/// The detected misuse, one line each; empty when there was none.
const char* hip_double_problems();
/// The live objects, one line each: allocations, modules, graphs, streams, events, pinned memory.
const char* hip_double_leaks();
/// The names of the calls since the last reset, in order, one line each.
const char* hip_double_calls();
}
