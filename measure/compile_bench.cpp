// Measures the time to compile kernel files, sandbox included, with an empty cache and from the
// cache.
//   compile_bench [-r REPEATS] [-c COMPILER] [--device cpu|cuda|hip] [--arch sm_90a] [-j THREADS]
//     FILE...
// Prints one line for each file, in milliseconds, then the medians over the files. For GPU code a
// line also has the time in the compiler library and the time to load that library. Defaults: 5
// repeats, the cpu device, the compilers that a run would choose. -j also prints the compiles per
// second of so many threads at once, and of one thread on one core. Needs no GPU. Run it on an
// otherwise idle machine.
#include "base/files.h"
#include "evaluators/device/cpu/compile/cpu_compiler.h"
#include "evaluators/device/gpu/compile/gpu_compiler.h"
#include "evaluators/device/vendors/gpu_vendors.h"
#include "evaluators/workers.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/plan/tuning/parameter_choices.h"
#include "tasks/result/evaluation.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <memory>
#include <thread>
#include <variant>

#include <fmt/format.h>
#include <sched.h>

namespace {

using namespace winnow;

struct Options {
  int repeats = 5;
  std::string compiler;
  std::string device = "cpu";
  std::string architecture = "sm_90a";
  int threads = 0;
  std::vector<std::string> files;
};

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (name.rfind('-', 0) != 0 || i + 1 == arguments.size()) {
      options.files.push_back(name);
      continue;
    }
    const std::string& value = arguments[++i];
    if (name == "-r") {
      options.repeats = std::max(1, std::atoi(value.c_str()));
    } else if (name == "-c") {
      options.compiler = value;
    } else if (name == "--device") {
      options.device = value;
    } else if (name == "--arch") {
      options.architecture = value;
    } else if (name == "-j") {
      options.threads = std::max(1, std::atoi(value.c_str()));
    } else {
      throw std::runtime_error("unknown option " + name);
    }
  }
  return options;
}

// Replaces the parameters in a name like "softmax<{BLOCK}>" by their values.
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

// In a run, much time passes between the request for the first candidate and its compilation.

std::unique_ptr<evaluators::Compiler> make_compiler(const Options& options,
                                                    const std::filesystem::path& cache) {
  if (options.device == "cpu") {
    evaluators::CpuCompilerOptions settings;
    settings.cache = cache;
    settings.compiler = options.compiler;
    return make_cpu_compiler(process::Sandbox::best(), settings);
  }
  evaluators::GpuCompilerOptions settings;
  settings.vendor = &evaluators::gpu_vendor(options.device);
  settings.architecture = options.architecture;
  settings.cache = cache;
  return make_gpu_compiler(process::Sandbox::best(), settings);
}

evaluators::CompileResult compile(evaluators::Compiler& compiler,
                                  const evaluators::CompileRequest& request) {
  evaluators::CompileResult result = compiler.compile(request, {});
  if (result.verdict != tasks::Verdict::Correct) {
    throw std::runtime_error(result.detail);
  }
  return result;
}

constexpr double kMillisecondsPerSecond = 1000;

struct Times {
  std::vector<double> cold_ms;
  std::vector<double> cached_ms;
  std::vector<double> library_ms;
  std::vector<double> load_ms;
};

Times measure(const evaluators::CompileRequest& request, const Options& options) {
  Times times;
  for (int i = 0; i < options.repeats; ++i) {
    const TemporaryDirectory cache("compile-bench");
    const auto compiler = make_compiler(options, cache.path());
    const evaluators::CompileResult cold = compile(*compiler, request);
    times.cold_ms.push_back(cold.build.seconds * kMillisecondsPerSecond);
    times.library_ms.push_back(cold.build.compiler_ms);
    times.load_ms.push_back(cold.build.load_ms);
    times.cached_ms.push_back(compile(*compiler, request).build.seconds * kMillisecondsPerSecond);
  }
  return times;
}

std::string library_text(const Times& times) {
  const double library_ms = tasks::median(times.library_ms);
  std::string text;
  if (library_ms > 0) {
    text = fmt::format("  in the library {:6.1f} ms, loading it {:5.1f} ms", library_ms,
                       tasks::median(times.load_ms));
  }
  return text;
}

// Compiles all files with several threads. Every compile adds another comment, so nothing comes
// from the cache.
double compiles_per_second(const std::vector<evaluators::CompileRequest>& requests,
                           const Options& options, int threads) {
  const TemporaryDirectory cache("compile-bench");
  const auto compiler = make_compiler(options, cache.path());
  const std::size_t total = requests.size() * static_cast<std::size_t>(options.repeats) *
                            static_cast<std::size_t>(threads);
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&] {
    for (std::size_t i = next++; i < total && !failed; i = next++) {
      evaluators::CompileRequest request = requests[i % requests.size()];
      request.source += "\n// " + std::to_string(i);
      failed = failed || compiler->compile(request, {}).verdict != tasks::Verdict::Correct;
    }
  };
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> pool;
  for (int i = 0; i < threads; ++i) {
    pool.emplace_back(work);
  }
  for (std::thread& thread : pool) {
    thread.join();
  }
  if (failed) {
    throw std::runtime_error("a file does not compile");
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return static_cast<double>(total) / took.count();
}

// Restricts this program and its children to one core as long as the object lives.
class OnOneCore {
public:
  OnOneCore() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_getaffinity(0, sizeof(before_), &before_) != 0 ||
        sched_setaffinity(0, sizeof(one), &one) != 0) {
      throw std::runtime_error("this process cannot be kept on one core");
    }
  }
  ~OnOneCore() { sched_setaffinity(0, sizeof(before_), &before_); }
  OnOneCore(const OnOneCore&) = delete; // a copy would restore the affinity twice
  OnOneCore& operator=(const OnOneCore&) = delete;

private:
  cpu_set_t before_{};
};

double compiles_per_second_of_a_core(const std::vector<evaluators::CompileRequest>& requests,
                                     const Options& options) {
  const OnOneCore scope;
  return compiles_per_second(requests, options, 1);
}

void print_throughput(const std::vector<evaluators::CompileRequest>& requests,
                      const Options& options) {
  const double one = compiles_per_second_of_a_core(requests, options);
  const double all = compiles_per_second(requests, options, options.threads);
  fmt::print("{} threads: {:.1f} compiles/s, one core: {:.1f} compiles/s, ratio {:.1f}\n",
             options.threads, all, one, all / one);
}

int run(const Options& options) {
  using evaluators::BuildMode;
  std::vector<double> cold_ms;
  std::vector<double> cached_ms;
  std::vector<double> library_ms;
  std::vector<evaluators::CompileRequest> requests;
  const bool cpu = options.device == "cpu";
  for (const std::string& file : options.files) {
    requests.push_back(request_for(file));
    for (const auto mode :
         cpu ? std::vector{BuildMode::Plain, BuildMode::Check} : std::vector{BuildMode::Plain}) {
      evaluators::CompileRequest request = requests.back();
      request.mode = mode;
      const Times times = measure(request, options);
      const bool plain = mode == BuildMode::Plain;
      fmt::print("{:<60} {:<5} cold {:7.1f} ms  cached {:6.2f} ms{}\n", file,
                 plain ? "plain" : "check", tasks::median(times.cold_ms),
                 tasks::median(times.cached_ms), library_text(times));
      if (plain) {
        cold_ms.push_back(tasks::median(times.cold_ms));
        cached_ms.push_back(tasks::median(times.cached_ms));
        library_ms.push_back(tasks::median(times.library_ms));
      }
    }
  }
  fmt::print("median over {} files, plain: cold {:.1f} ms, cached {:.2f} ms{}\n",
             options.files.size(), tasks::median(cold_ms), tasks::median(cached_ms),
             cpu ? "" : fmt::format(", in the library {:.1f} ms", tasks::median(library_ms)));
  if (options.threads > 0) {
    print_throughput(requests, options);
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  try {
    if (evaluators::is_worker(argc, argv)) {
      return evaluators::run_worker(argc, argv);
    }
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const Options options = parse_options(arguments);
    if (options.files.empty()) {
      fmt::print(stderr, "usage: compile_bench [-r REPEATS] [-c COMPILER] [--device cpu|cuda|hip] "
                         "[--arch sm_90a] [-j THREADS] "
                         "FILE...\n");
      return 2;
    }
    return run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "compile_bench: {}\n", error.what());
    return 1;
  }
}
