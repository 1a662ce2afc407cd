#include "harness/commands/kernels/compile_kernels.h"

#include "base/digest.h"
#include "base/error.h"
#include "evaluators/device/vendors/gpu_vendors.h"
#include "evaluators/evaluation/compile_only.h"
#include "harness/commands/kernels/kernel_text.h"
#include "harness/machine/target_gpu.h"

namespace winnow::harness {

void add_compile_options(CLI::App& sub, CompileOptions& options) {
  sub.add_flag("--compile-only", options.compile_only,
               "compile for a GPU that this machine need not have, show the resources of the "
               "kernels, run nothing");
  sub.add_option("--arch", options.architecture,
                 "architecture for --compile-only: sm_90a (default for cuda), gfx90a (hip), ...");
  sub.add_option("--gpu", options.gpu,
                 "model of GPU for --compile-only, such as H100: the launches of the plan are "
                 "checked with its facts, too");
}

void check_compile_options(const CompileOptions& options) {
  if (options.compile_only) {
    return;
  }
  for (const auto& [name, value] :
       {std::pair{"--arch", options.architecture}, {"--gpu", options.gpu}}) {
    if (!value.empty()) {
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
  const TargetGpu target = target_gpu(options.device, command.gpu, command.architecture);
  for (const std::string& file : files) {
    const KernelText kernel = read_kernel(file, store, task.name);
    evaluators::EvaluationResult result;
    result.evaluations = {evaluators::compile_only(task, kernel.text, kernel.name, target.device,
                                                   target.is_model, options)};
    printer.add(kernel.name, sha256_hex(kernel.text), result);
  }
  return printer.finish();
}

} // namespace winnow::harness
