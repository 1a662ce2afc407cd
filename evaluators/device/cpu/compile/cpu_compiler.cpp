#include "evaluators/device/cpu/compile/cpu_compiler.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json_dump.h"
#include "evaluators/device/compile/compile_request_json.h"
#include "evaluators/device/compile/module_cache.h"
#include "evaluators/device/cpu/abi.h"
#include "evaluators/device/cpu/compile/compile_protocol.h"
#include "evaluators/device/cpu/compile/precompiled_headers.h"
#include "evaluators/device/cpu/compile/source_pass.h"
#include "evaluators/device/headers/device_headers.h"

#include <utility>

#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

// Time beyond the compiler's own limit, for the source pass, the linker and starting up.
constexpr std::chrono::milliseconds kWorkerGrace{5'000};
constexpr unsigned kProcesses = 64;

// The first compiler that works. clang++ comes before g++, because it instruments better: it
// separates the shared arrays of template kernels, and its checked code runs faster.
std::optional<Toolchain> first_toolchain(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (auto probe = probe_toolchain(name); probe.toolchain) {
      return probe.toolchain;
    }
  }
  return std::nullopt;
}

class CpuCompiler final : public Compiler {
public:
  CpuCompiler(process::Sandbox sandbox, CpuCompilerOptions options)
      : sandbox_(std::move(sandbox)), options_(std::move(options)),
        cache_(std::filesystem::absolute(options_.cache) / "cpu", ".so"),
        headers_digest_(device_headers_digest()),
        headers_(std::filesystem::absolute(options_.cache) /
                 ("headers-" + headers_digest_.substr(0, 16))) {
    choose_toolchain();
    write_device_headers(headers_);
  }

  std::string_view device_kind() const override { return "cpu"; }
  bool has_check_mode() const override { return true; }

  CompileResult compile(const CompileRequest& request,
                        const std::function<bool()>& cancelled) override {
    CompileResult result = cache_.compile(request, cache_key(request), [&] {
      const TemporaryDirectory directory("compile");
      const auto flags = compile_flags(toolchain_, request.mode, request.fast_math);
      return build({request, toolchain_, headers_, precompiled_headers(toolchain_, flags, headers_),
                    directory.path(), options_.timeout, options_.memory_bytes},
                   cancelled);
    });
    result.build.compiler = toolchain_.version;
    return result;
  }

private:
  void choose_toolchain() {
    const bool chosen = !options_.compiler.empty();
    const auto toolchain = first_toolchain(chosen ? std::vector{options_.compiler}
                                                  : std::vector<std::string>{"clang++", "g++"});
    if (!toolchain) {
      const Availability availability =
          probe_toolchain(chosen ? options_.compiler : "g++").availability;
      throw Error("no compiler for CPU modules works here: " + availability.why,
                  availability.remedy);
    }
    toolchain_ = *toolchain;
  }

  // A hash of everything on which the module's bytes or the answer depend.
  std::string cache_key(const CompileRequest& request) const {
    const nlohmann::json key{{"request", tasks::write_json(request)},
                             {"flags", compile_flags(toolchain_, request.mode, request.fast_math)},
                             {"link", link_command(toolchain_, request.mode, "object", "module")},
                             {"compiler", {toolchain_.version, toolchain_.compiler.string()}},
                             {"headers", headers_digest_},
                             {"pass", kSourcePassVersion},
                             {"abi", WINNOW_CPU_ABI_VERSION}};
    return sha256_hex(json_line(key));
  }

  ModuleCache::Built build(const CompileJob& job, const std::function<bool()>& cancelled) const {
    const process::ChildResult child =
        process::run_child(worker_command(job), encode(job), cancelled);
    if (child.end == process::ChildResult::End::Cancelled) {
      return cancelled_compile();
    }
    CompiledModule compiled = read_answer(child);
    const bool lasting = is_lasting(compiled.answer);
    return {std::move(compiled), lasting};
  }

  process::Command worker_command(const CompileJob& job) const {
    process::SandboxPolicy policy;
    policy.readable = {headers_};
    for (const std::filesystem::path& tool :
         {job.toolchain.compiler, job.toolchain.linker, job.toolchain.libm}) {
      if (!tool.empty() && tool.string().rfind("/usr/", 0) != 0 &&
          tool.string().rfind("/lib", 0) != 0 && tool.string().rfind("/bin/", 0) != 0) {
        policy.readable.push_back(tool.parent_path());
      }
    }
    policy.writable = job.directory;
    policy.may_spawn = true;
    process::ProcessLimits limits;
    limits.wall = job.timeout + kWorkerGrace;
    limits.cpu = std::chrono::duration_cast<std::chrono::seconds>(job.timeout + kWorkerGrace);
    limits.memory_bytes = job.memory_bytes;
    limits.file_bytes = kMostModuleBytes;
    limits.output_bytes = kMostAnswerBytes + kMostModuleBytes;
    limits.processes = kProcesses;
    return sandbox_.command("_compile", {}, policy, limits);
  }

  process::Sandbox sandbox_;
  CpuCompilerOptions options_;
  ModuleCache cache_;
  std::string headers_digest_;
  std::filesystem::path headers_;
  Toolchain toolchain_;
};

} // namespace

std::unique_ptr<Compiler> make_cpu_compiler(process::Sandbox sandbox, CpuCompilerOptions options) {
  return std::make_unique<CpuCompiler>(std::move(sandbox), std::move(options));
}

Availability probe_cpu_compiler(const std::string& name) {
  return probe_toolchain(name).availability;
}

} // namespace winnow::evaluators
