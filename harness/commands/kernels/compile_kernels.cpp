#include "harness/commands/kernels/compile_kernels.h"

#include "base/digest.h"
#include "base/error.h"
#include "evaluators/device/vendors/gpu_vendors.h"
#include "evaluators/evaluation/compile_only.h"
#include "evaluators/host/disassembly.h"
#include "harness/commands/kernels/kernel_text.h"
#include "harness/machine/target_gpu.h"
#include "process/sandbox.h"

#include <filesystem>
#include <utility>

namespace winnow::harness {

std::vector<CLI::Option*> add_compile_options(CLI::App& sub, CompileOptions& options) {
  return {sub.add_flag("--compile-only", options.compile_only,
                       "compile for a GPU that this machine need not have, show the resources of "
                       "the kernels, run nothing"),
          sub.add_option("--arch", options.architecture,
                         "architecture for --compile-only: sm_90a (default for cuda), gfx90a "
                         "(hip), ..."),
          sub.add_option("--gpu", options.gpu,
                         "model of GPU for --compile-only, such as H100: the launches of the plan "
                         "are checked with its facts, too"),
          sub.add_flag("--sass", options.sass,
                       "also show the machine code of what --compile-only has compiled, at most "
                       "64 KiB of it, by nvdisasm, cuobjdump or llvm-objdump")};
}

void check_compile_options(const CompileOptions& options) {
  if (options.compile_only) {
    return;
  }
  for (const auto& [name, is_set] : {std::pair{"--arch", !options.architecture.empty()},
                                     {"--gpu", !options.gpu.empty()},
                                     {"--sass", options.sass}}) {
    if (is_set) {
      throw UsageError(std::string(name) + " works only with --compile-only",
                       "remove " + std::string(name) +
                           ": Winnow compiles for the device that runs the kernels");
    }
  }
}

ExitCode compile_kernels(const CompileOptions& command, const std::vector<std::string>& files,
                         CommandStore& store, const tasks::Task& task,
                         const evaluators::EvaluationOptions& options, EvalPrinter& printer) {
  if (options.device != "best" && evaluators::find_gpu_vendor(options.device) == nullptr) {
    throw UsageError("--compile-only works only with a kind of GPU as --device, not with " +
                     options.device);
  }
  const TargetGpu gpu = target_gpu(options.device, command.gpu, command.architecture);
  std::string machine_code;
  evaluators::CompileTarget target{gpu.device, gpu.is_model};
  if (command.sass) {
    target.take_module = [&](const std::filesystem::path& module) {
      machine_code = evaluators::disassembly(
          module, gpu.device.kind,
          evaluators::tool_folders(gpu.device.kind, gpu.device.facts.architecture),
          process::Sandbox::best(options.require_isolation));
    };
  }
  for (const std::string& file : files) {
    const KernelText kernel = read_kernel(file, store, task.name);
    machine_code.clear();
    evaluators::EvaluationResult result;
    result.evaluations = {
        evaluators::compile_only(task, kernel.text, kernel.name, target, options)};
    printer.add(kernel.name, sha256_hex(kernel.text), result, machine_code);
  }
  return printer.finish();
}

} // namespace winnow::harness
