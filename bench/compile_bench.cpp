// How long compiling a kernel file for the CPU device takes, sandbox included, with an empty cache
// and from the cache. Usage: compile_bench [-r REPEATS] [-c COMPILER] FILE... Prints one line a
// file in milliseconds, then the medians over the files (default: 5 repeats, the compilers that a
// run would choose). Run it on an otherwise idle machine.
#include "base/files.h"
#include "evaluators/device/cpu/compile/cpu_compiler.h"
#include "evaluators/evaluator.h"
#include "tasks/evaluation.h"
#include "tasks/kernel_file.h"

#include <cstdlib>
#include <exception>
#include <variant>

#include <fmt/format.h>

namespace {

using namespace winnow;

struct Options {
  int repeats = 5;
  std::string compiler;
  std::vector<std::string> files;
};

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "-r" && i + 1 < arguments.size()) {
      options.repeats = std::max(1, std::atoi(arguments[++i].c_str()));
    } else if (arguments[i] == "-c" && i + 1 < arguments.size()) {
      options.compiler = arguments[++i];
    } else {
      options.files.push_back(arguments[i]);
    }
  }
  return options;
}

// "softmax<{BLOCK}>" with the parameters put in.
std::string instantiate(std::string name, const tasks::ParameterChoice& parameters) {
  for (const auto& [parameter, value] : parameters) {
    const std::string mark = "{" + parameter + "}";
    for (std::size_t at = name.find(mark); at != std::string::npos; at = name.find(mark)) {
      name.replace(at, mark.size(), std::to_string(value));
    }
  }
  return name;
}

evaluators::CompileRequest request_for(const std::string& file) {
  const auto parsed = tasks::parse_kernel_file(read_file(file, tasks::kMaxKernelFileBytes), file);
  if (!parsed.kernel_file) {
    throw std::runtime_error(to_string(parsed.errors.front()));
  }
  const tasks::KernelFile& kernel = *parsed.kernel_file;
  evaluators::CompileRequest request;
  request.file = file;
  request.source = kernel.source;
  request.parameters = tasks::parameter_choices(kernel.plan, 1).at(0);
  for (const tasks::Launch& launch : kernel.plan.launches) {
    if (const auto* call = std::get_if<tasks::KernelLaunch>(&launch.what)) {
      const std::string name = instantiate(call->kernel, request.parameters);
      if (std::find(request.kernels.begin(), request.kernels.end(), name) ==
          request.kernels.end()) {
        request.kernels.push_back(name);
      }
    }
  }
  return request;
}

struct Times {
  std::vector<double> cold_ms;
  std::vector<double> cached_ms;
};

Times measure(const evaluators::CompileRequest& request, const Options& options) {
  Times times;
  for (int i = 0; i < options.repeats; ++i) {
    const TemporaryDirectory cache("compile-bench");
    evaluators::CpuCompilerOptions settings;
    settings.cache = cache.path();
    settings.compiler = options.compiler;
    const auto compiler = make_cpu_compiler(evaluators::Sandbox::best(), settings);
    for (std::vector<double>* into : {&times.cold_ms, &times.cached_ms}) {
      const evaluators::CompileResult result = compiler->compile(request, {});
      if (result.verdict != tasks::Verdict::Correct) {
        throw std::runtime_error(result.detail);
      }
      into->push_back(result.build.seconds * 1000);
    }
  }
  return times;
}

int run(const Options& options) {
  std::vector<double> cold_ms;
  std::vector<double> cached_ms;
  for (const std::string& file : options.files) {
    for (const auto mode : {evaluators::BuildMode::Plain, evaluators::BuildMode::Check}) {
      evaluators::CompileRequest request = request_for(file);
      request.mode = mode;
      const Times times = measure(request, options);
      const bool plain = mode == evaluators::BuildMode::Plain;
      fmt::print("{:<60} {:<5} cold {:7.1f} ms  cached {:6.2f} ms\n", file,
                 plain ? "plain" : "check", tasks::median(times.cold_ms),
                 tasks::median(times.cached_ms));
      if (plain) {
        cold_ms.push_back(tasks::median(times.cold_ms));
        cached_ms.push_back(tasks::median(times.cached_ms));
      }
    }
  }
  fmt::print("median over {} files, plain: cold {:.1f} ms, cached {:.2f} ms\n",
             options.files.size(), tasks::median(cold_ms), tasks::median(cached_ms));
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    // The compiler starts this program again, fenced in.
    if (argc > 1 && arguments[0] == "_compile") {
      return evaluators::compile_worker_main({arguments.begin() + 1, arguments.end()});
    }
    if (argc > 1 && arguments[0] == "_probe") {
      return evaluators::probe_worker_main({arguments.begin() + 1, arguments.end()});
    }
    const Options options = parse_options(arguments);
    if (options.files.empty()) {
      fmt::print(stderr, "usage: compile_bench [-r REPEATS] [-c COMPILER] FILE...\n");
      return 2;
    }
    return run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "compile_bench: {}\n", error.what());
    return 1;
  }
}
