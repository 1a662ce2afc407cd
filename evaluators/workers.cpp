#include "evaluators/workers.h"

#include "evaluators/device/cpu/compile/cpu_compiler.h"
#include "evaluators/device/gpu/compile/gpu_compiler.h"
#include "evaluators/device/vendors/gpu_vendors.h"
#include "evaluators/host/context_probe.h"
#include "evaluators/host/devices.h"
#include "evaluators/host/disassembly.h"
#include "evaluators/judge/judge.h"
#include "evaluators/torch/torch_child.h"
#include "evaluators/worker/runner.h"
#include "process/escape_attempts.h"
#include "process/session_fence.h"

#include <array>
#include <cstdio>
#include <exception>
#include <string_view>
#include <utility>

namespace winnow::evaluators {
namespace {

struct Worker {
  std::string_view name;
  int (*run)(std::vector<std::string> arguments);
};

int compile_gpu(std::vector<std::string> arguments) {
  return compile_gpu_worker_main(std::move(arguments), gpu_vendor);
}

constexpr std::array<Worker, 11> kWorkers{{
    {"_compile", compile_worker_main},
    {"_compile-gpu", compile_gpu},
    {"_run", run_worker_main},
    {"_judge", judge_worker_main},
    {"_torch", torch_worker_main},
    {"_probe", process::probe_worker_main},
    {"_escape", process::escape_worker_main},
    {"_exec", process::exec_worker_main},
    {"_devices", device_probe_worker_main},
    {"_context", context_probe_worker_main},
    {"_disassemble", disassemble_worker_main},
}};

const Worker* find_worker(int argc, char** argv) {
  for (const Worker& worker : kWorkers) {
    if (argc > 1 && worker.name == argv[1]) {
      return &worker;
    }
  }
  return nullptr;
}

} // namespace

bool is_worker(int argc, char** argv) {
  return find_worker(argc, argv) != nullptr;
}

int run_worker(int argc, char** argv) {
  const Worker* worker = find_worker(argc, argv);
  try {
    return worker->run(std::vector<std::string>(argv + 2, argv + argc));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[1], error.what());
    return 1;
  }
}

} // namespace winnow::evaluators
