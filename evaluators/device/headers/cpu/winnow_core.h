// The core of CUDA C++ for a CPU module: no standard header, clang++ >= 14 or g++ >= 11, C++17.
//
// How a module is made of it (evaluators/device/cpu/compile):
//   #include "winnow_core.h"       // first; includes "abi.h", which lies beside it
//   ... the candidate's code, after the source pass ...
//   extern "C" const WinnowKernel winnow_kernels[] = {
//       WINNOW_KERNEL("scale<4>", scale<4>),
//       WINNOW_KERNEL("ns::copy", ns::copy),
//   };
//   WINNOW_MODULE                  // once: winnow_kernel_count, winnow_abi_version, winnow_where
//
// Check builds define WINNOW_CHECK. Each `__shared__` is a static thread_local, found by the
// runtime in .symtab (so don't strip); dynamic shared memory is winnow_dynamic_shared().
// g++ needs -fno-gnu-unique (reload) and -fno-semantic-interposition or -fvisibility=hidden.
#pragma once

#include "abi.h"
