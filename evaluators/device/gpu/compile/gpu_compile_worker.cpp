#include "evaluators/device/gpu/compile/gpu_compile_job.h"
#include "evaluators/evaluator.h"
#include "evaluators/process/sandbox.h"

#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>

#include <nlohmann/json.hpp>

namespace winnow::evaluators {

int compile_gpu_worker_main(std::vector<std::string> arguments) {
  enter_sandbox(arguments);
  write_answer([] {
    const std::string input{std::istreambuf_iterator<char>(std::cin), {}};
    const auto job = nlohmann::json::parse(input).get<GpuCompileJob>();
    // Compilers keep temporary files there; nothing else can be written.
    setenv("TMPDIR", job.directory.c_str(), 1);
    return compile_gpu_job(job);
  });
  return 0;
}

} // namespace winnow::evaluators
