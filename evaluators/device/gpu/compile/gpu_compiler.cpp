#include "evaluators/device/gpu/compile/gpu_compiler.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json_dump.h"
#include "evaluators/device/compile/compile_request_json.h"
#include "evaluators/device/compile/module_cache.h"
#include "evaluators/device/gpu/compile/gpu_compile_job.h"
#include "evaluators/device/headers/device_headers.h"

#include <csignal>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

using tasks::Verdict;

// Part of the cache key. Raised when the translation of sources or the content of answers changes.
constexpr int kGpuSourceVersion = 8;
// Time beyond the compiler's own limit, for loading the compiler and reading the image.
constexpr std::chrono::milliseconds kGpuWorkerGrace{2'000};
constexpr unsigned kThreads = 64;

std::uintmax_t file_size_of(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  return error ? 0 : bytes;
}

// Signals that the compiler itself raises. Other signals come from outside.
bool crashed(const process::ChildResult& child) {
  return child.end == process::ChildResult::End::Signaled &&
         (child.signal == SIGSEGV || child.signal == SIGABRT || child.signal == SIGBUS ||
          child.signal == SIGFPE || child.signal == SIGILL);
}

class GpuCompiler final : public Compiler {
public:
  GpuCompiler(process::Sandbox sandbox, GpuCompilerOptions options)
      : sandbox_(std::move(sandbox)), options_(std::move(options)),
        toolchain_(options_.vendor->find_toolchain(options_.architecture)),
        cache_(std::filesystem::absolute(options_.cache) / options_.vendor->kind, ".gpu"),
        headers_digest_(device_headers_digest()),
        headers_(std::filesystem::absolute(options_.cache) /
                 ("headers-" + headers_digest_.substr(0, 16))) {
    write_device_headers(headers_);
  }

  std::string_view device_kind() const override { return options_.vendor->kind; }

  CompileResult compile(const CompileRequest& request,
                        const std::function<bool()>& cancelled) override {
    if (request.mode == BuildMode::Check) {
      throw Error("there is no check mode for " + std::string(options_.vendor->kind) + " modules");
    }
    CompileResult result =
        cache_.compile(request, cache_key(request), [&] { return build(request, cancelled); });
    result.build.compiler = toolchain_.version;
    result.build.architecture = options_.architecture;
    return result;
  }

private:
  // A hash of everything on which the module's bytes or the answer depend.
  std::string cache_key(const CompileRequest& request) const {
    const nlohmann::json key{
        {"request", tasks::write_json(request)},
        {"architecture", options_.architecture},
        {"options", options_.vendor->compiler_options(options_.architecture, request.fast_math)},
        {"toolchain", toolchain_},
        {"library_bytes", file_size_of(toolchain_.library)},
        {"headers", headers_digest_},
        {"version", kGpuSourceVersion}};
    return sha256_hex(json_line(key));
  }

  ModuleCache::Built build(const CompileRequest& request,
                           const std::function<bool()>& cancelled) const {
    std::optional<TemporaryDirectory> scratch;
    if (options_.vendor->compiler_writes_files) { // else the child can write nowhere
      scratch.emplace("compile");
    }
    const GpuCompileJob job{request, toolchain_, options_.architecture, headers_};
    const process::ChildResult child =
        process::run_child(worker_command(scratch ? scratch->path() : std::filesystem::path()),
                           encode(job), cancelled);
    if (child.end == process::ChildResult::End::Cancelled) {
      return cancelled_compile();
    }
    CompiledModule compiled = explain(child);
    const bool lasting =
        is_lasting(compiled.answer) && child.end == process::ChildResult::End::Exited;
    return {std::move(compiled), lasting};
  }

  process::Command worker_command(const std::filesystem::path& scratch) const {
    process::SandboxPolicy policy;
    policy.readable = toolchain_.include_directories;
    policy.readable.push_back(headers_);
    policy.readable.insert(policy.readable.end(), toolchain_.readable.begin(),
                           toolchain_.readable.end());
    policy.writable = scratch;
    process::ProcessLimits limits;
    limits.wall = options_.timeout + kGpuWorkerGrace;
    limits.cpu = std::chrono::duration_cast<std::chrono::seconds>(limits.wall);
    limits.memory_bytes = options_.memory_bytes;
    limits.file_bytes = kMostModuleBytes;
    limits.output_bytes = kMostAnswerBytes + kMostModuleBytes;
    limits.processes = kThreads;
    return sandbox_.command("_compile-gpu", {}, policy, limits);
  }

  CompiledModule explain(const process::ChildResult& child) const {
    using End = process::ChildResult::End;
    if (child.end == End::WallTimeout || child.end == End::CpuTimeout) {
      return {failed_compile(
          Verdict::OverLimit,
          fmt::format("still compiling after {:g} s: the source expands to too much code (deep "
                      "templates, macros or unrolling)",
                      static_cast<double>(options_.timeout.count()) / 1000.0))};
    }
    if (crashed(child)) {
      return {failed_compile(Verdict::CompileError,
                             toolchain_.version + " failed on this source: the compile worker " +
                                 describe(child))};
    }
    return read_answer(child);
  }

  process::Sandbox sandbox_;
  GpuCompilerOptions options_;
  GpuToolchain toolchain_;
  ModuleCache cache_;
  std::string headers_digest_;
  std::filesystem::path headers_;
};

} // namespace

std::unique_ptr<Compiler> make_gpu_compiler(process::Sandbox sandbox, GpuCompilerOptions options) {
  return std::make_unique<GpuCompiler>(std::move(sandbox), std::move(options));
}

} // namespace winnow::evaluators
