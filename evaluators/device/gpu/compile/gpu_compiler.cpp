#include "evaluators/device/gpu/compile/gpu_compiler.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "evaluators/device/compile/module_cache.h"
#include "evaluators/device/cuda/compile/nvrtc.h"
#include "evaluators/device/gpu/compile/gpu_compile_job.h"
#include "evaluators/device/headers/device_headers.h"

#include <csignal>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

using tasks::Verdict;

// Raised with every change of what is made of a source or of an answer: part of the cache key.
constexpr int kGpuSourceVersion = 3;
// Beyond the compiler's own limit, for loading it and reading the image.
constexpr std::chrono::milliseconds kWorkerGrace{2'000};
constexpr std::uint64_t kModuleBytes = std::uint64_t{64} << 20U;
constexpr unsigned kThreads = 64;

std::string dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Of the compiler itself. Other signals come from outside.
bool is_crash(int signal) {
  return signal == SIGSEGV || signal == SIGABRT || signal == SIGBUS || signal == SIGFPE ||
         signal == SIGILL;
}

class GpuCompiler final : public Compiler {
public:
  GpuCompiler(Sandbox sandbox, GpuCompilerOptions options)
      : sandbox_(std::move(sandbox)), options_(std::move(options)),
        toolchain_(find_gpu_toolchain(options_.kind, options_.architecture)),
        cache_(std::filesystem::absolute(options_.cache) / options_.kind, ".gpu"),
        headers_digest_(device_headers_digest()),
        headers_(std::filesystem::absolute(options_.cache) /
                 ("headers-" + headers_digest_.substr(0, 16))) {
    write_device_headers(headers_);
  }

  std::string_view device_kind() const override { return options_.kind; }

  CompileResult compile(const CompileRequest& request,
                        const std::function<bool()>& cancelled) override {
    if (request.mode == BuildMode::Check) {
      throw Error("there is no check mode for " + options_.kind + " modules");
    }
    const auto start = std::chrono::steady_clock::now();
    const std::string key = cache_key(request);
    CompileResult result;
    if (const auto answer = cache_.find(key)) {
      result = to_result(*answer, request, key);
      result.build.from_cache = true;
    } else {
      result = build(request, key, cancelled);
    }
    result.build.digest = key;
    result.build.compiler = toolchain_.version;
    result.build.architecture = options_.architecture;
    result.build.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
  }

private:
  // Everything that the module's bytes or the answer depend on.
  std::string cache_key(const CompileRequest& request) const {
    std::error_code error;
    const std::uintmax_t library_bytes = std::filesystem::file_size(toolchain_.library, error);
    const nlohmann::json key{
        {"source", request.source},
        {"file", request.file},
        {"parameters", request.parameters},
        {"kernels", request.kernels},
        {"constants", request.constants},
        {"architecture", options_.architecture},
        {"fast_math", request.fast_math},
        {"options", options_.kind == "cuda"
                        ? nvrtc_options(options_.architecture, request.fast_math)
                        : std::vector<std::string>()},
        {"toolchain", toolchain_},
        {"library_bytes", error ? 0 : library_bytes},
        {"headers", headers_digest_},
        {"version", kGpuSourceVersion}};
    return sha256_hex(dump(key) + request.source);
  }

  CompileResult build(const CompileRequest& request, const std::string& key,
                      const std::function<bool()>& cancelled) const {
    const TemporaryDirectory directory("compile");
    const GpuCompileJob job{request, toolchain_, options_.architecture, headers_, directory.path()};
    const ChildResult child =
        run_child(worker_command(job.directory), dump(nlohmann::json(job)), cancelled);
    if (child.end == ChildResult::End::Cancelled) {
      CompileResult result;
      result.detail = "cancelled";
      return result;
    }
    const CompileAnswer answer = explain(child);
    if (is_lasting(answer) && child.end == ChildResult::End::Exited) {
      cache_.store(key, answer, directory.path() / kGpuModuleName);
      return to_result(answer, request, key);
    }
    return compile_result(answer, request);
  }

  Command worker_command(const std::filesystem::path& directory) const {
    SandboxPolicy policy;
    policy.readable = toolchain_.include_directories;
    policy.readable.push_back(headers_);
    policy.readable.insert(policy.readable.end(), toolchain_.readable.begin(),
                           toolchain_.readable.end());
    policy.writable = directory;
    Limits limits;
    limits.wall = options_.timeout + kWorkerGrace;
    limits.cpu = std::chrono::duration_cast<std::chrono::seconds>(limits.wall);
    limits.memory_bytes = options_.memory_bytes;
    limits.file_bytes = kModuleBytes;
    limits.processes = kThreads;
    return sandbox_.command("_compile-gpu", {}, policy, limits);
  }

  CompileAnswer explain(const ChildResult& child) const {
    using End = ChildResult::End;
    if (child.end == End::WallTimeout || child.end == End::CpuTimeout) {
      return failed_compile(
          Verdict::OverLimit,
          fmt::format("still compiling after {:g} s: the source expands to too much code (deep "
                      "templates, macros or unrolling)",
                      static_cast<double>(options_.timeout.count()) / 1000.0));
    }
    if (child.end == End::Signaled && is_crash(child.signal)) {
      return failed_compile(Verdict::CompileError,
                            toolchain_.version + ", compiling this source, " + describe(child));
    }
    return read_answer(child);
  }

  CompileResult to_result(const CompileAnswer& answer, const CompileRequest& request,
                          const std::string& key) const {
    CompileResult result = compile_result(answer, request);
    if (result.verdict == Verdict::Correct) {
      result.module = cache_.module_path(key);
    }
    return result;
  }

  Sandbox sandbox_;
  GpuCompilerOptions options_;
  GpuToolchain toolchain_;
  ModuleCache cache_;
  std::string headers_digest_;
  std::filesystem::path headers_;
};

} // namespace

std::unique_ptr<Compiler> make_gpu_compiler(Sandbox sandbox, GpuCompilerOptions options) {
  return std::make_unique<GpuCompiler>(std::move(sandbox), std::move(options));
}

} // namespace winnow::evaluators
