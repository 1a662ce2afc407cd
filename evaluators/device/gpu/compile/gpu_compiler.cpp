#include "evaluators/device/gpu/compile/gpu_compiler.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json_dump.h"
#include "evaluators/device/compile/compile_request_json.h"
#include "evaluators/device/compile/module_cache.h"
#include "evaluators/device/cuda/compile/nvrtc.h"
#include "evaluators/device/gpu/compile/gpu_compile_job.h"
#include "evaluators/device/headers/device_headers.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <exception>
#include <mutex>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

using tasks::Verdict;

// Part of the cache key. Raised when the translation of sources or the content of answers changes.
constexpr int kGpuSourceVersion = 7;
// Time beyond the compiler's own limit, for loading the compiler and reading the image.
constexpr std::chrono::milliseconds kGpuWorkerGrace{2'000};
constexpr std::uint64_t kModuleBytes = std::uint64_t{64} << 20U;
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

/// The directory and the child of one job. `child` is set if it was started before the job was
/// known; its compiler is warm.
struct CompilePlace {
  TemporaryDirectory directory{"compile"};
  std::unique_ptr<process::ChildProcess> child;
};

/// Keeps one child ready while no compile runs. Any thread.
class WarmCompiler {
public:
  /// A compile in progress. While compiles are queued, no child is prepared, because that would
  /// slow them down.
  class Compile {
  public:
    explicit Compile(WarmCompiler& warm) : warm_(warm) { ++warm_.in_progress_; }
    ~Compile() {
      if (--warm_.in_progress_ == 0) {
        warm_.make_ready();
      }
    }
    Compile(const Compile&) = delete; // counts once
    Compile& operator=(const Compile&) = delete;

  private:
    WarmCompiler& warm_;
  };

  WarmCompiler(bool wanted, std::function<std::unique_ptr<CompilePlace>()> start)
      : wanted_(wanted), start_(std::move(start)) {}

  void make_ready() noexcept {
    const std::lock_guard lock(mutex_);
    if (!wanted_ || place_ != nullptr) {
      return;
    }
    try {
      place_ = start_();
    } catch (const std::exception&) { // the next compile will report the same error
    }
  }

  /// Returns the prepared place, with its child if one is ready.
  std::unique_ptr<CompilePlace> take() {
    std::unique_ptr<CompilePlace> place;
    {
      const std::lock_guard lock(mutex_);
      place = std::move(place_);
    }
    return place && place->child->running() ? std::move(place) : std::make_unique<CompilePlace>();
  }

private:
  const bool wanted_;
  const std::function<std::unique_ptr<CompilePlace>()> start_;
  std::atomic<int> in_progress_{0};
  std::mutex mutex_;
  std::unique_ptr<CompilePlace> place_; ///< with its child
};

class GpuCompiler final : public Compiler {
public:
  GpuCompiler(process::Sandbox sandbox, GpuCompilerOptions options)
      : sandbox_(std::move(sandbox)), options_(std::move(options)),
        toolchain_(find_gpu_toolchain(options_.kind, options_.architecture)),
        cache_(std::filesystem::absolute(options_.cache) / options_.kind, ".gpu"),
        headers_digest_(device_headers_digest()),
        headers_(std::filesystem::absolute(options_.cache) /
                 ("headers-" + headers_digest_.substr(0, 16))) {
    write_device_headers(headers_);
    warm_.make_ready();
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
  // A hash of everything on which the module's bytes or the answer depend.
  std::string cache_key(const CompileRequest& request) const {
    const nlohmann::json key{
        {"request", tasks::write_json(request)},
        {"architecture", options_.architecture},
        {"options", options_.kind == "cuda"
                        ? nvrtc_options(options_.architecture, request.fast_math)
                        : std::vector<std::string>()},
        {"toolchain", toolchain_},
        {"library_bytes", file_size_of(toolchain_.library)},
        {"headers", headers_digest_},
        {"version", kGpuSourceVersion}};
    return sha256_hex(json_line(key));
  }

  CompileResult build(const CompileRequest& request, const std::string& key,
                      const std::function<bool()>& cancelled) const {
    const WarmCompiler::Compile in_progress(warm_);
    const auto place = warm_.take();
    const GpuCompileJob job = new_job(request, place->directory.path());
    const process::ChildResult child =
        place->child ? place->child->run(encode(job), cancelled)
                     : process::run_child(worker_command(job), encode(job), cancelled);
    if (child.end == process::ChildResult::End::Cancelled) {
      CompileResult result;
      result.detail = "cancelled";
      return result;
    }
    const CompileAnswer answer = explain(child);
    if (is_lasting(answer) && child.end == process::ChildResult::End::Exited) {
      cache_.store(key, answer, place->directory.path() / kGpuModuleName);
      return to_result(answer, request, key);
    }
    return compile_result(answer, request);
  }

  GpuCompileJob new_job(const CompileRequest& request,
                        const std::filesystem::path& directory) const {
    GpuCompileJob job;
    job.request = request;
    job.toolchain = toolchain_;
    job.architecture = options_.architecture;
    job.headers = headers_;
    job.directory = directory;
    return job;
  }

  std::unique_ptr<CompilePlace> start_warm() const {
    auto place = std::make_unique<CompilePlace>();
    GpuCompileJob job = new_job({}, place->directory.path());
    job.warm_up = true;
    place->child = std::make_unique<process::ChildProcess>(worker_command(job));
    place->child->write(encode(job), kGpuWorkerGrace);
    return place;
  }

  process::Command worker_command(const GpuCompileJob& job) const {
    process::SandboxPolicy policy;
    policy.readable = toolchain_.include_directories;
    policy.readable.push_back(headers_);
    policy.readable.insert(policy.readable.end(), toolchain_.readable.begin(),
                           toolchain_.readable.end());
    policy.writable = job.directory;
    process::ProcessLimits limits;
    limits.wall = options_.timeout + kGpuWorkerGrace;
    limits.cpu = std::chrono::duration_cast<std::chrono::seconds>(limits.wall);
    limits.memory_bytes = options_.memory_bytes;
    limits.file_bytes = kModuleBytes;
    limits.processes = kThreads;
    return sandbox_.command("_compile-gpu", {}, policy, limits);
  }

  CompileAnswer explain(const process::ChildResult& child) const {
    using End = process::ChildResult::End;
    if (child.end == End::WallTimeout || child.end == End::CpuTimeout) {
      return failed_compile(
          Verdict::OverLimit,
          fmt::format("still compiling after {:g} s: the source expands to too much code (deep "
                      "templates, macros or unrolling)",
                      static_cast<double>(options_.timeout.count()) / 1000.0));
    }
    if (crashed(child)) {
      return failed_compile(Verdict::CompileError,
                            toolchain_.version + " failed on this source: the compile worker " +
                                describe(child));
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

  process::Sandbox sandbox_;
  GpuCompilerOptions options_;
  GpuToolchain toolchain_;
  ModuleCache cache_;
  std::string headers_digest_;
  std::filesystem::path headers_;
  mutable WarmCompiler warm_{options_.keep_warm, [this] { return start_warm(); }};
};

} // namespace

std::unique_ptr<Compiler> make_gpu_compiler(process::Sandbox sandbox, GpuCompilerOptions options) {
  return std::make_unique<GpuCompiler>(std::move(sandbox), std::move(options));
}

} // namespace winnow::evaluators
