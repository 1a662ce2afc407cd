// Tests compiling for AMD GPUs. Needs no GPU; skipped without hiprtc.
#include "base/error.h"
#include "base/files.h"
#include "evaluators/device/gpu/compile/gpu_compile_job.h"
#include "evaluators/device/gpu/compile/gpu_source.h"
#include "evaluators/device/gpu/helper_kernels.h"
#include "evaluators/device/headers/device_headers.h"
#include "evaluators/device/hip/compile/hiprtc.h"
#include "evaluators/device/hip/hip_driver.h"
#include "evaluators/device/inspect/elf_reader.h"
#include "tasks/catalogue.h"
#include "tasks/parse/task_parse.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/plan/resolve/plan_resolve.h"
#include "tasks/plan/tuning/parameter_choices.h"
#include "tasks/reference/narrowing.h"
#include "tasks/task/task.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr std::size_t kMaxSampleBytes = 1 << 20;

TEST(HipArchitectures, WavesHave64LanesBeforeRdnaAnd32After) {
  EXPECT_EQ(hip_architecture_facts("gfx90a").warp_size, 64);
  EXPECT_EQ(hip_architecture_facts("gfx906").warp_size, 64);
  EXPECT_EQ(hip_architecture_facts("gfx1030").warp_size, 32);
  EXPECT_EQ(hip_architecture_facts("gfx1201").warp_size, 32);
  EXPECT_EQ(hip_architecture_facts("gfx90a").max_shared_bytes, 65536);
  EXPECT_EQ(hip_architecture_facts("gfx90a").max_cluster_blocks, 0);
  EXPECT_FALSE(hip_architecture_facts("gfx90a").tensor_maps);
}

TEST(HipArchitectures, UnknownOnesAreRefusedWithThoseThatAreKnown) {
  try {
    hip_architecture_facts("sm_90a");
    FAIL() << "sm_90a is no AMD architecture";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'sm_90a'"));
    EXPECT_THAT(error.remedy(), HasSubstr("gfx90a"));
  }
}

TEST(HipArchitectures, EachRocmVersionAddsSome) {
  EXPECT_TRUE(hip_architectures(4).empty());
  EXPECT_THAT(hip_architectures(5), Contains("gfx90a"));
  EXPECT_THAT(hip_architectures(5), Not(Contains("gfx942")));
  EXPECT_THAT(hip_architectures(6), Contains("gfx942"));
  EXPECT_THAT(hip_architectures(6), Not(Contains("gfx950")));
  EXPECT_THAT(hip_architectures(7), Contains("gfx950"));
  for (const std::string& name : hip_architectures(7)) {
    EXPECT_EQ(hip_architecture_facts(name).architecture, name);
  }
}

class Hiprtc : public testing::TestWithParam<const char*> {
protected:
  void SetUp() override {
    const Availability hiprtc = probe_hiprtc();
    if (!hiprtc.ok) {
      GTEST_SKIP() << hiprtc.why;
    }
    write_device_headers(headers_.path());
    compiler_ = open_hiprtc();
  }

  RuntimeCompileOutput compile(const std::string& source,
                               const std::vector<std::string>& kernels) const {
    RuntimeCompileJob job;
    job.source = source;
    job.file = kCandidateFile;
    job.instantiated = kernels;
    job.architecture = GetParam();
    job.include_directories = {(headers_.path() / "hip").string(),
                               (headers_.path() / "common").string()};
    return compiler_->compile(job);
  }
  RuntimeCompileOutput compile_candidate(const std::string& code,
                                         const std::vector<std::string>& kernels) const {
    return compile(
        fmt::format("#include \"{}\"\n#line 1 \"{}\"\n{}", kHipPrelude, kCandidateFile, code),
        kernels);
  }
  void expect_unsupported(const std::string& code, const std::string& construct) const {
    const RuntimeCompileOutput output = compile_candidate(code, {});
    EXPECT_FALSE(output.compiled) << code;
    EXPECT_THAT(output.log, HasSubstr("winnow-unsupported: " + construct));
    EXPECT_THAT(output.log, HasSubstr("winnow_candidate.cu:2:"));
  }

  /// Compiles a kernel file like an evaluation.
  RuntimeCompileOutput compile_file(const std::string& source,
                                    const tasks::ParameterChoice& parameters,
                                    const std::vector<std::string>& kernels) const {
    SourceInput input;
    input.source = source;
    input.parameters = parameters;
    input.kernels = kernels;
    input.prelude = kHipPrelude;
    GpuToolchain toolchain;
    toolchain.kind = "hip";
    input.headers = gpu_header_rules(toolchain, headers_.path());
    const TranslatedSource translated = translate_source(input);
    EXPECT_FALSE(translated.mistake) << translated.mistake->what;
    return compile(translated.translated, kernels);
  }

  /// Compiles a candidate like the compile child.
  CompileAnswer answer_to(const std::string& code, const std::string& kernel) const {
    GpuCompileJob job;
    job.request.file = "k.cu";
    job.request.source = code;
    job.request.kernels = {kernel};
    job.toolchain = find_hip_toolchain(GetParam());
    job.architecture = GetParam();
    job.headers = headers_.path();
    return compile_gpu_job(job, kHipVendor).answer;
  }

  void expect_compiles(const tasks::Task& view, const std::string& text, const std::string& file) {
    const tasks::KernelFileResult parsed = tasks::parse_kernel_file(text, file);
    ASSERT_TRUE(parsed.kernel_file) << to_string(parsed.errors.front());
    const tasks::DeviceFacts facts = hip_architecture_facts(GetParam());
    std::vector<Diagnostic> errors;
    const auto choice = tasks::parameter_choices(parsed.kernel_file->plan, 1).front();
    const std::vector<std::string> kernels =
        tasks::kernel_names(*parsed.kernel_file, view, view.shapes, choice, facts, errors);
    ASSERT_TRUE(errors.empty()) << to_string(errors.front());
    const RuntimeCompileOutput output = compile_file(parsed.kernel_file->source, choice, kernels);
    ASSERT_TRUE(output.compiled) << file << "\n" << output.log;
    EXPECT_EQ(output.log, "") << file;
    expect_entries(output, kernels);
  }

private:
  // Checks that the code object has every kernel and the data about its parameters.
  static void expect_entries(const RuntimeCompileOutput& output,
                             const std::vector<std::string>& kernels) {
    const ElfReader image(
        std::string(reinterpret_cast<const char*>(output.image.data()), output.image.size()));
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      EXPECT_TRUE(image.read_symbol(output.symbols.at(kernels[i]))) << kernels[i];
      const auto signature = image.read_symbol(fmt::format("winnow_signature_{}", i));
      ASSERT_TRUE(signature) << kernels[i];
      EXPECT_EQ(signature->front(), 'p') << *signature;
    }
  }

  TemporaryDirectory headers_{"hip-headers"};
  std::unique_ptr<RuntimeCompiler> compiler_;
};

struct Sample {
  const char* file;
  const char* kernel;
};

TEST_P(Hiprtc, CompilesWhatCudaKernelsUse) {
  for (const Sample& sample : {Sample{"intrinsics.cu", "intrinsics"}, Sample{"warps.cu", "warps"},
                               Sample{"small_floats.cu", "small_floats"},
                               Sample{"groups.cu", "groups"}, Sample{"hip.cu", "hip"}}) {
    const RuntimeCompileOutput output = compile_candidate(
        read_file(std::filesystem::path(WINNOW_HIP_SAMPLES) / sample.file, kMaxSampleBytes),
        {sample.kernel});
    EXPECT_TRUE(output.compiled) << sample.file << "\n" << output.log;
    EXPECT_EQ(output.log, "") << sample.file;
  }
}

TEST_P(Hiprtc, CompilesEveryTasksBaselineAndReference) {
  const std::filesystem::path catalogue = tasks::find_catalogue();
  for (const tasks::CatalogueEntry& entry : tasks::list_tasks(catalogue)) {
    const tasks::Task task = tasks::load_task(entry.folder);
    expect_compiles(task, task.baseline, entry.name + "/baseline.cu");
    expect_compiles(tasks::reference_view(task), tasks::plain_reference(task),
                    entry.name + "/reference.cu");
  }
}

TEST_P(Hiprtc, CompilesTheKernelsThatADeviceNeedsForItself) {
  const RuntimeCompileOutput output =
      compile_file(std::string(gpu_helper_source()), {}, gpu_helper_kernels());
  EXPECT_TRUE(output.compiled) << output.log;
  EXPECT_EQ(output.log, "");
}

TEST_P(Hiprtc, NamesTemplateInstancesByTheirSymbols) {
  const RuntimeCompileOutput output =
      compile_candidate("template <int N> __global__ void fill(float* p) { p[threadIdx.x] = N; }\n",
                        {"fill<1>", "fill<2>"});
  ASSERT_TRUE(output.compiled) << output.log;
  EXPECT_EQ(output.symbols.at("fill<1>"), "_Z4fillILi1EEvPf");
  EXPECT_EQ(output.symbols.at("fill<2>"), "_Z4fillILi2EEvPf");
}

TEST_P(Hiprtc, ErrorsNameTheCandidatesLineAndWords) {
  const RuntimeCompileOutput output =
      compile_candidate("__global__ void k(float* p) {\n  p[0] = std::sqroot(p[1]);\n}\n", {});
  EXPECT_FALSE(output.compiled);
  EXPECT_THAT(output.log, HasSubstr("winnow_candidate.cu:2:"));
  EXPECT_THAT(output.log, HasSubstr("namespace 'std'"));
  EXPECT_THAT(output.log, Not(HasSubstr("winnow_std")));
  EXPECT_THAT(output.log, Not(HasSubstr("CompileSource")));
}

TEST_P(Hiprtc, ErrorsOutsideOfTheCandidateNameTheFileThatWasGiven) {
  const RuntimeCompileOutput output = compile("nonsense(", {});
  EXPECT_FALSE(output.compiled);
  EXPECT_THAT(output.log, HasSubstr("winnow_candidate.cu:1:"));
  EXPECT_THAT(output.log, Not(HasSubstr("CompileSource")));
}

TEST_P(Hiprtc, WhatAmdGpusLackIsCalledUnsupported) {
  expect_unsupported("\n#include <mma.h>\n", "<mma.h> (tensor cores (wmma))");
  expect_unsupported("\n#include <cub/cub.cuh>\n", "<cub/cub.cuh> (CUB)");
  expect_unsupported("\n__global__ void k(const __grid_constant__ CUtensorMap map) {}\n",
                     "CUtensorMap (TMA)");
  expect_unsupported("\n__global__ void __cluster_dims__(2, 1, 1) k(float* p) {}\n",
                     "__cluster_dims__ (thread block clusters)");
  expect_unsupported("\n__global__ void k(cudaTextureObject_t t) {}\n",
                     "cudaTextureObject_t (textures)");
}

TEST_P(Hiprtc, InlinePtxIsAnErrorAndNotAnAbort) {
  const RuntimeCompileOutput output =
      compile_candidate("extern \"C\" __global__ void k(unsigned* p) {\n"
                        "  asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(p[0]));\n}\n",
                        {"k"});
  EXPECT_FALSE(output.compiled);
  EXPECT_THAT(output.log, HasSubstr("error"));
}

TEST_P(Hiprtc, WhatAmdGpusLackGetsItsVerdict) {
  const CompileAnswer ptx =
      answer_to("__global__ void k(unsigned* p) {\n"
                "  asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(p[0]));\n}\n",
                "k");
  EXPECT_EQ(ptx.verdict, tasks::Verdict::Unsupported);
  EXPECT_EQ(ptx.detail, "unsupported on hip devices: asm (inline PTX) at line 2");
  const CompileAnswer wmma = answer_to("#include <mma.h>\n__global__ void k() {}\n", "k");
  EXPECT_EQ(wmma.verdict, tasks::Verdict::Unsupported);
  EXPECT_THAT(wmma.detail, HasSubstr("<mma.h> (tensor cores (wmma))"));
}

TEST_P(Hiprtc, CompiledKernelsHaveSignaturesAndResources) {
  const CompileAnswer answer =
      answer_to("#include <cuda_fp16.h>\n"
                "__global__ void k(const half* x, __nv_half2* y, float a, int n) {\n"
                "  __shared__ float s[32];\n  s[threadIdx.x] = a * float(x[n]);\n"
                "  __syncthreads();\n  y[0].x = s[n];\n}\n",
                "k");
  ASSERT_EQ(answer.verdict, tasks::Verdict::Correct) << answer.detail;
  ASSERT_EQ(answer.signatures.size(), 1U);
  EXPECT_EQ(answer.signatures[0], "p2fc:x p4:y f4:a i4:n");
  ASSERT_EQ(answer.kernels.size(), 1U);
  EXPECT_GT(answer.kernels[0].registers, 0);
  EXPECT_EQ(answer.kernels[0].static_shared_bytes, 128);
}

TEST_P(Hiprtc, RefusesArchitecturesOnWhichItWouldAbort) {
  RuntimeCompileJob job;
  job.architecture = "gfx9999";
  try {
    open_hiprtc()->compile(job);
    FAIL() << "gfx9999 was accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'gfx9999'"));
    EXPECT_THAT(error.remedy(), HasSubstr("gfx90a"));
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, Hiprtc, testing::Values("gfx90a", "gfx1030"),
                         [](const auto& parameter) { return std::string(parameter.param); });

} // namespace
} // namespace winnow::evaluators
