// The boundary between a compiled CPU module and the runtime inside the worker. Included by both:
// no standard headers here, the device side is compiled with -nostdinc.
#pragma once

#define WINNOW_CPU_ABI_VERSION 1

struct WinnowUint3 {
  unsigned x, y, z;
};

// Position of a thread.
struct WinnowCoordinates {
  WinnowUint3 thread, block, block_dim, grid_dim;
};

// What the lanes of a warp deposited in one warp operation.
struct WinnowGather {
  unsigned lanes; // those that took part: the mask without lanes that have exited
  unsigned long long values[32];
};

// Modules are compiled with -fvisibility=hidden.
#pragma GCC visibility push(default)
extern "C" {

// One instantiated kernel of a module. `arguments[i]` points at the value of parameter i.
struct WinnowKernel {
  const char* name;
  // Runs the one thread that `at` names. May block in a barrier or warp operation.
  void (*run_thread)(void* const* arguments, const WinnowCoordinates* at);
  // Runs all threads of the block that `at` names, in order, in a loop the compiler may vectorise.
  // Only called when the module imports no blocking entry point.
  void (*run_block)(void* const* arguments, const WinnowCoordinates* at);
};

// Defined by every module: WINNOW_MODULE and the table that the source pass generates. Parameter
// types are in the read-only arrays winnow_signature_0, winnow_signature_1, ...
// (tasks/plan/signature.h), read from the file.
extern const WinnowKernel winnow_kernels[];
extern const unsigned winnow_kernel_count;
extern const unsigned winnow_abi_version;
// Where the calling OS thread is. Exact while run_thread runs; run_block may keep it in registers.
void winnow_where(WinnowCoordinates* at);

// ---- Entry points of the runtime that a module may import ----

// Dynamic shared memory of the block that runs now (exactly the launch's shared_bytes).
void* winnow_dynamic_shared(void);

// Blocking: a fiber switch may happen inside.
// `line` is the candidate's own line; `op` names the operation for messages ("__syncthreads").
// Returns, for WinnowBarrierCount/And/Or, the reduction of `predicate` over the block.
enum WinnowBarrierKind {
  WinnowBarrierPlain,
  WinnowBarrierCount,
  WinnowBarrierAnd,
  WinnowBarrierOr
};
int winnow_barrier(int kind, int predicate, const char* op, int line);
// All lanes in `mask` deposit 8 bytes and wait for each other; the result is valid until this
// thread's next blocking call. `op_id` tells operations apart: lanes that meet under different ids
// are an error.
const WinnowGather* winnow_gather(unsigned mask, unsigned long long value, int op_id,
                                  const char* op, int line);
// Waits until every lane of the warp waits or has exited; returns the lanes that wait on `line`.
unsigned winnow_active_mask(const char* op, int line);
// All threads of all blocks of a cooperative launch.
void winnow_grid_barrier(int line);
// Lets other threads of the block run (spin loops: volatile reads, __nanosleep).
void winnow_yield(int line);

// Not blocking.
// printf from device code: capped, to the worker's stderr.
int winnow_printf(const char* format, ...);
// __trap, assert: ends the launch with a verdict.
[[noreturn]] void winnow_trap(const char* what, const char* file, int line);
unsigned long long winnow_clock(void);
}
#pragma GCC visibility pop
