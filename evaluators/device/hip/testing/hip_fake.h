// A libamdhip64 for tests: it has every function that the driver looks for, notes each call with
// its arguments, hands out handles and fails the call that it is told to. It runs nothing. Tests
// link it and steer it through this header; the driver finds it through WINNOW_HIP_LIBRARY.
#pragma once

#include <cstddef>

extern "C" {

/// Forgets the calls, the failures to come and what is alive.
void hip_double_reset();
/// The next call of this function returns `result` (a hipError_t). A function that releases
/// something does so before it fails, as the real ones do.
void hip_double_fail(const char* call, int result);
/// The calls since the last reset, a line each: the function's name and its arguments.
const char* hip_double_calls();
/// How many allocations, modules, graphs, streams, events and pinned ranges are not released.
std::size_t hip_double_alive();
}
