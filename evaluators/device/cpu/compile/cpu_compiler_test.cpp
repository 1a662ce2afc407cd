#include "base/error.h"
#include "evaluators/device/compile/testing/fresh_cache.h"
#include "evaluators/device/cpu/compile/cpu_compiler.h"
#include "evaluators/device/cpu/compile/module_check.h"
#include "evaluators/device/inspect/elf_reader.h"
#include "process/fence.h"
#include "tasks/plan/signature.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using tasks::Verdict;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

CompileRequest kernel_request(std::string source, std::vector<std::string> kernels = {"k"}) {
  CompileRequest request;
  request.file = "test.cu";
  request.source = std::move(source);
  request.kernels = std::move(kernels);
  return request;
}

// Every test runs with each installed compiler.
class CpuCompilerTest : public testing::TestWithParam<const char*> {
protected:
  void SetUp() override {
    const Availability availability = probe_cpu_compiler(GetParam());
    if (!availability.ok) {
      GTEST_SKIP() << GetParam() << ": " << availability.why;
    }
  }

  std::unique_ptr<Compiler> compiler(CpuCompilerOptions options = {}) const {
    options.cache = cache_.path();
    options.compiler = GetParam();
    return make_cpu_compiler(process::Sandbox::best(), options);
  }

  CompileResult compile(const CompileRequest& wanted) const { return compiler()->compile(wanted); }

  CompileResult compile(const std::string& source) const { return compile(kernel_request(source)); }

  FreshCache cache_;
};

INSTANTIATE_TEST_SUITE_P(Compilers, CpuCompilerTest, testing::Values("g++", "clang++"),
                         [](const auto& test) {
                           return std::string(test.param) == "g++" ? "gxx" : "clangxx";
                         });

const std::string kSoftmaxKernel = R"(
#include <cuda_runtime.h>
#include <math.h>
template <int BLOCK>
__global__ void softmax(const float* __restrict__ x, float* y, int rows, long long cols, bool flag) {
  extern __shared__ __align__(16) unsigned char raw[];
  __shared__ alignas(16) float part[BLOCK];
  float* row = reinterpret_cast<float*>(raw);
  float top = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    top = fmaxf(top, x[blockIdx.x * cols + c]);
  }
  part[threadIdx.x] = top;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + s]);
    __syncthreads();
  }
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    y[blockIdx.x * cols + c] = flag ? expf(x[blockIdx.x * cols + c] - part[0]) : row[c];
  }
}
)";

TEST_P(CpuCompilerTest, CompilesAndReadsSignatures) {
  const CompileResult result =
      compile(kernel_request(kSoftmaxKernel, {"softmax<128>", "softmax<64>"}));
  ASSERT_EQ(result.verdict, Verdict::Correct) << result.detail;
  ASSERT_EQ(result.facts.signatures.size(), 2U);
  EXPECT_EQ(result.facts.signatures[1].kernel, "softmax<64>");
  EXPECT_EQ(tasks::encode_parameters(result.facts.signatures[0].parameters),
            "p4fc:x p4f:y i4:rows i8:cols b1:flag");
  EXPECT_FALSE(result.build.from_cache);
  EXPECT_THAT(result.build.compiler, StartsWith(GetParam()));
  const auto imports = ElfReader::open(result.module).undefined_symbols();
  EXPECT_THAT(imports, Contains("winnow_barrier"));
  EXPECT_THAT(result.build.features,
              testing::ElementsAre("2 kernels", "block barriers", "dynamic shared memory"));
}

TEST_P(CpuCompilerTest, CompilesInCheckMode) {
  CompileRequest wanted = kernel_request(kSoftmaxKernel, {"softmax<128>"});
  wanted.mode = BuildMode::Check;
  const CompileResult result = compile(wanted);
  ASSERT_EQ(result.verdict, Verdict::Correct) << result.detail;
  const auto imports = ElfReader::open(result.module).undefined_symbols();
  EXPECT_THAT(imports, Contains("__wrap___tsan_read4"));
  EXPECT_THAT(imports, Not(Contains(StartsWith("__tsan_"))));
}

TEST_P(CpuCompilerTest, SharedMemoryAtFileScopeCompilesInCheckMode) {
  CompileRequest wanted =
      kernel_request("__shared__ float s[4];\n__global__ void k(float* x, int i) { "
                     "s[i] = x[i]; __syncthreads(); x[i] = s[i + 1]; }\n");
  wanted.mode = BuildMode::Check;
  const CompileResult result = compile(wanted);
  EXPECT_EQ(result.verdict, Verdict::Correct) << result.detail;
}

TEST_P(CpuCompilerTest, ReadsConstantsBack) {
  CompileRequest wanted =
      kernel_request("struct Tile { float x[12]; };\nconstexpr int size(Tile) { return "
                     "7; }\n__global__ void k(float* x) { x[0] = B; }\n");
  wanted.parameters = {{"B", 5}};
  wanted.constants = {"sizeof(Tile) * B", "size(Tile{}) - 10"};
  const CompileResult result = compile(wanted);
  ASSERT_EQ(result.verdict, Verdict::Correct) << result.detail;
  EXPECT_EQ(result.facts.constants.at("sizeof(Tile) * B"), 240);
  EXPECT_EQ(result.facts.constants.at("size(Tile{}) - 10"), -3);
  wanted.constants = {"no_such_name"};
  EXPECT_EQ(compile(wanted).verdict, Verdict::CompileError);
}

TEST_P(CpuCompilerTest, FindsBuiltModulesAgain) {
  const auto shared = compiler();
  const CompileResult first = shared->compile(kernel_request(kSoftmaxKernel, {"softmax<128>"}));
  const CompileResult second = shared->compile(kernel_request(kSoftmaxKernel, {"softmax<128>"}));
  EXPECT_FALSE(first.build.from_cache);
  EXPECT_TRUE(second.build.from_cache);
  EXPECT_EQ(first.module, second.module);
  EXPECT_EQ(second.facts.signatures.size(), 1U);
  CompileRequest fast = kernel_request(kSoftmaxKernel, {"softmax<128>"});
  fast.fast_math = true;
  const CompileResult third = shared->compile(fast);
  EXPECT_EQ(third.verdict, Verdict::Correct) << third.detail;
  EXPECT_FALSE(third.build.from_cache);
}

TEST_P(CpuCompilerTest, DamagedCacheEntriesAreBuiltAnew) {
  const auto shared = compiler();
  const CompileResult first = shared->compile(kernel_request(kSoftmaxKernel, {"softmax<128>"}));
  ASSERT_EQ(first.verdict, Verdict::Correct) << first.detail;
  std::ofstream(first.module, std::ios::app) << "x";
  const CompileResult second = shared->compile(kernel_request(kSoftmaxKernel, {"softmax<128>"}));
  EXPECT_FALSE(second.build.from_cache);
  EXPECT_EQ(second.verdict, Verdict::Correct);
  std::ofstream(first.module) << "{";
  EXPECT_FALSE(shared->compile(kernel_request(kSoftmaxKernel, {"softmax<128>"})).build.from_cache);
}

TEST_P(CpuCompilerTest, RemembersCompileErrors) {
  const auto shared = compiler();
  const CompileRequest wanted = kernel_request("__global__ void k() { oops }");
  const CompileResult first = shared->compile(wanted);
  const CompileResult second = shared->compile(wanted);
  EXPECT_EQ(second.verdict, Verdict::CompileError);
  EXPECT_TRUE(second.build.from_cache);
  EXPECT_EQ(first.detail, second.detail);
}

TEST_P(CpuCompilerTest, SeesParameters) {
  CompileRequest wanted =
      kernel_request("#if VEC > 2\n__global__ void k(float* x) { __shared__ float "
                     "s[BLOCK]; x[0] = s[0]; }\n#endif\n");
  wanted.parameters = {{"BLOCK", 32}, {"VEC", 4}};
  EXPECT_EQ(compile(wanted).verdict, Verdict::Correct);
  wanted.parameters["VEC"] = 1;
  EXPECT_EQ(compile(wanted).verdict, Verdict::CompileError);
}

TEST_P(CpuCompilerTest, CompileErrorsCarryTheCandidatesLines) {
  const CompileResult result = compile("// one\n__global__ void k(float* x) {\n  extern __shared__ "
                                       "float s[];\n  x[0] = undefined_name;\n}\n");
  EXPECT_EQ(result.verdict, Verdict::CompileError);
  EXPECT_THAT(result.detail, StartsWith("test.cu:4:"));
  EXPECT_THAT(result.detail, HasSubstr("undefined_name"));
  EXPECT_THAT(result.detail, HasSubstr("4 | x[0] = undefined_name;"));
}

TEST_P(CpuCompilerTest, FileScopeDynamicSharedCompiles) {
  const CompileResult result = compile(
      "extern __shared__ char raw[];\n__device__ float* row() { return "
      "reinterpret_cast<float*>(raw); }\n__global__ void k(float* x) { x[0] = row()[1]; }\n");
  ASSERT_EQ(result.verdict, Verdict::Correct) << result.detail;
  EXPECT_THAT(ElfReader::open(result.module).undefined_symbols(),
              Contains("winnow_dynamic_shared"));
}

TEST_P(CpuCompilerTest, HostFunctionsCannotBeCalled) {
  for (const char* name : {"system", "write", "dlopen", "fork", "open"}) {
    const std::string source = std::string("extern \"C\" int ") + name +
                               "(const char*);\n__global__ void k() {\n  " + name + "(\"x\");\n}\n";
    const CompileResult result = compile(source);
    EXPECT_EQ(result.verdict, Verdict::CompileError) << name;
    EXPECT_THAT(result.detail,
                HasSubstr("device code cannot call the host function '" + std::string(name) + "'"));
    EXPECT_TRUE(result.module.empty());
  }
}

TEST_P(CpuCompilerTest, UnusedHelpersAreNotJudged) {
  EXPECT_EQ(compile("int host_only(int);\n__host__ int unused() { return host_only(1); }\n"
                    "__global__ void k() {}\n")
                .verdict,
            Verdict::Correct);
}

TEST_P(CpuCompilerTest, NothingRunsWhenAModuleIsLoaded) {
  for (const char* source :
       {"struct S { int v; S() : v(clock()) {} };\n__device__ S s;\n__global__ void k(int* x) { *x "
        "= s.v; }",
        "extern \"C\" __attribute__((visibility(\"default\"))) void _init() {}\n__global__ void "
        "k() {}",
        "__device__ int seen;\n__attribute__((constructor)) static void early() { seen = clock(); "
        "}\n__global__ void k(int* x) { *x = seen; }",
        "static int f() { return 1; }\n__attribute__((section(\".init_array\"), used)) static int "
        "(*p)() = f;\n__global__ void k() {}",
        "__device__ int g();\n__global__ void k(int* x) { static int v = clock(); *x = v; }"}) {
    const CompileResult result = compile(source);
    EXPECT_EQ(result.verdict, Verdict::CompileError) << source;
    EXPECT_THAT(result.detail, HasSubstr("not allowed")) << source;
  }
}

TEST_P(CpuCompilerTest, NoCodeCanHideFromCheckMode) {
  for (const char* source :
       {"__attribute__((no_sanitize(\"thread\"))) __global__ void k(float* x) { *x = 1; }",
        "__attribute__((__no_sanitize__(\"thread\"))) __global__ void k(float* x) { *x = 1; }",
        "__attribute__((no_sanitize_thread)) __global__ void k(float* x) { *x = 1; }",
        "[[clang::disable_sanitizer_instrumentation]] __global__ void k(float* x) { *x = 1; }",
        "#define JOIN(a, b) a##b\n__attribute__((JOIN(no_sani, tize)(\"thread\"))) __global__ void "
        "k(float* x) { *x = 1; }",
        "typedef float V __attribute__((vector_size(32)));\n__global__ void k(float* x) {\n"
        "  V v{}; __builtin_ia32_storeups256(x, v);\n}"}) {
    EXPECT_EQ(compile(source).verdict, Verdict::Unsupported) << source;
  }
  EXPECT_EQ(compile("#undef no_sanitize\n__global__ void k(float* x) { *x = 1; }").verdict,
            Verdict::CompileError);
}

TEST_P(CpuCompilerTest, OtherFilesCannotBeRead) {
  const CompileResult result = compile("#include \"/etc/passwd\"\n__global__ void k() {}\n");
  EXPECT_EQ(result.verdict, Verdict::CompileError);
  EXPECT_THAT(result.detail, HasSubstr("cannot include \"/etc/passwd\": only the device headers"));
  const CompileResult marker = compile("#line 1 \"/etc/passwd\"\n__global__ void k() { oops }\n");
  EXPECT_THAT(marker.detail + marker.build.log, Not(HasSubstr("root")));
}

TEST_P(CpuCompilerTest, DirectivesThatNameOtherFilesAreTheSourcesFault) {
  const CompileResult result = compile("#pragma GCC dependency \"/etc/passwd\"\n"
                                       "extern \"C\" __global__ void k(float* x) { x[0] = 1; }");
  EXPECT_NE(result.verdict, Verdict::Infrastructure) << result.detail;
  EXPECT_EQ(result.detail.find("root:"), std::string::npos);
}

TEST_P(CpuCompilerTest, UnsupportedConstructsAreNamed) {
  const CompileResult ptx =
      compile("__global__ void k(int* x) {\n  asm volatile(\"mov.u32 %0, 1;\" : \"=r\"(*x));\n}\n");
  EXPECT_EQ(ptx.verdict, Verdict::Unsupported);
  EXPECT_EQ(ptx.detail, "unsupported on the cpu device: asm (inline PTX) at line 2");
  for (const char* spelling : {"asm", "__asm__", "__asm"}) {
    const CompileResult result =
        compile("__global__ void k() {\n  " + std::string(spelling) + "(\"nop\");\n}\n");
    EXPECT_EQ(result.verdict, Verdict::Unsupported) << spelling;
  }
  const CompileResult inactive =
      compile("#if 0\nvoid f() { asm(\"\"); }\n#endif\n__global__ void k() {}\n");
  EXPECT_EQ(inactive.verdict, Verdict::Correct) << inactive.detail;
  const CompileResult library = compile("#include <cutlass/gemm/x.h>\n__global__ void k() {}\n");
  EXPECT_EQ(library.verdict, Verdict::Unsupported) << library.detail;
  const CompileResult texture = compile(
      "__global__ void k(cudaTextureObject_t t, float* x) { *x = tex2D<float>(t, 0, 0); }\n");
  EXPECT_EQ(texture.verdict, Verdict::Unsupported) << texture.detail;
  const CompileResult heap = compile("extern \"C\" void* malloc(unsigned long);\n__global__ void "
                                     "k(void** x) { *x = malloc(4); }\n");
  EXPECT_EQ(heap.verdict, Verdict::Unsupported) << heap.detail;
}

TEST_P(CpuCompilerTest, HostCodeIsExplained) {
  const CompileResult result = compile("__global__ void k(float* x) {}\nvoid run(float* x) {\n  "
                                       "k<<<1, 32>>>(x);\n}\n");
  EXPECT_EQ(result.verdict, Verdict::CompileError);
  EXPECT_THAT(result.detail, HasSubstr("host code in line 3"));
}

TEST_P(CpuCompilerTest, CommonMistakesGetHints) {
  EXPECT_THAT(compile("__global__ void k(int* x) { *x = threadIdx.w; }").detail,
              HasSubstr("only x, y and z"));
  EXPECT_THAT(
      compile("__global__ void k(int n, float* x) { __shared__ float s[n]; x[0] = s[0]; }").detail,
      HasSubstr("make it a parameter of the plan"));
  EXPECT_THAT(compile("__global__ void k(int n) { if (n) {\n").detail,
              HasSubstr("does not close a block or statement"));
  CompileRequest again = kernel_request("constexpr int BLOCK = 4;\n__global__ void k() {}");
  again.parameters = {{"BLOCK", 128}};
  EXPECT_THAT(compile(again).detail, HasSubstr("remove this definition"));
}

TEST_P(CpuCompilerTest, StaticSharedMemoryIsLimited) {
  const std::string body = "__shared__ float s[N]; s[i] = 1; __syncthreads(); x[i] = s[i + 1]; }\n";
  const std::string kernel = "template <int N> __global__ void k(float* x, int i) { " + body;
  EXPECT_EQ(compile(kernel_request(kernel, {"k<12288>"})).verdict, Verdict::Correct);
  const CompileResult result = compile(kernel_request(kernel, {"k<12289>"}));
  EXPECT_EQ(result.verdict, Verdict::CompileError);
  EXPECT_THAT(result.detail, HasSubstr("use dynamic shared memory"));
}

TEST_P(CpuCompilerTest, CompileBombsAreCutOff) {
  CpuCompilerOptions options;
  options.timeout = std::chrono::milliseconds(1500);
  options.memory_bytes = std::uint64_t{600} << 20U;
  const std::string bomb = R"(
#define A(x) x x x x x x x x x x
#define B(x) A(A(A(A(x))))
__global__ void k(int* x) { B(B(x[0] = x[1] * x[2] + 7;)) }
)";
  const CompileResult result = compiler(options)->compile(kernel_request(bomb));
  EXPECT_EQ(result.verdict, Verdict::OverLimit) << result.detail;
  EXPECT_LT(result.build.seconds, 10.0);
  EXPECT_THAT(result.detail, HasSubstr("expands to too much code"));
}

TEST_P(CpuCompilerTest, MemoryBombsAreCutOff) {
  if (kSanitized) {
    GTEST_SKIP() << "sanitizer builds run without a memory limit";
  }
  CpuCompilerOptions options;
  options.timeout = std::chrono::milliseconds(60'000);
  options.memory_bytes = std::uint64_t{400} << 20U;
  const std::string bomb = R"(
#define A(x) x x x x x x x x x x
#define B(x) A(A(A(A(x))))
__global__ void k(int* x) { B(B(x[0] = x[1] * x[2] + 7;)) }
)";
  const CompileResult result = compiler(options)->compile(kernel_request(bomb));
  EXPECT_EQ(result.verdict, Verdict::OverLimit) << result.detail;
  EXPECT_THAT(result.detail, HasSubstr("the compiler used more than 0.391 GiB")) << result.detail;
}

TEST_P(CpuCompilerTest, CompilesAtEveryIsolationLevel) {
  for (const process::Isolation level :
       {process::Isolation::Rlimits, process::Isolation::LandlockSeccomp,
        process::Isolation::Bubblewrap}) {
    if (!process::probe_isolation().at(level).ok) {
      continue;
    }
    const FreshCache cache;
    CpuCompilerOptions options;
    options.cache = cache.path();
    options.compiler = GetParam();
    const auto fenced = make_cpu_compiler(process::Sandbox(level, executable_path()), options);
    const CompileResult good = fenced->compile(kernel_request(kSoftmaxKernel, {"softmax<128>"}));
    EXPECT_EQ(good.verdict, Verdict::Correct) << to_string(level) << ": " << good.detail;
    const CompileResult wrong = fenced->compile(kernel_request("__global__ void k() { oops }"));
    EXPECT_THAT(wrong.detail, StartsWith("test.cu:1:")) << to_string(level);
    const CompileResult secret = fenced->compile(
        kernel_request("#if 1\n#include \"/etc/passwd\"\n#endif\n__global__ void k() {}"));
    EXPECT_THAT(secret.detail, HasSubstr("cannot include '/etc/passwd'")) << to_string(level);
    EXPECT_THAT(secret.detail + secret.build.log, Not(HasSubstr("root:"))) << to_string(level);
  }
}

TEST_P(CpuCompilerTest, EndlessTemplatesAreCompileErrors) {
  const CompileResult result = compile("template <int N> struct T { static constexpr int v = T<N + "
                                       "1>::v; };\n__global__ void k(int* x) { *x = T<0>::v; }\n");
  EXPECT_EQ(result.verdict, Verdict::CompileError) << result.detail;
  EXPECT_LE(result.build.log.size(), 5000U);
}

TEST_P(CpuCompilerTest, MissingKernelsAreNamed) {
  const CompileResult result = compile(kernel_request(kSoftmaxKernel, {"softmx<128>"}));
  EXPECT_THAT(result.detail, HasSubstr("did you mean 'softmax'?"));
  const CompileResult arguments = compile(kernel_request(kSoftmaxKernel, {"softmax<float>"}));
  EXPECT_EQ(arguments.verdict, Verdict::CompileError);
  EXPECT_THAT(arguments.detail, HasSubstr("kernel 'softmax<float>'"));
  const CompileResult overloaded = compile(kernel_request(
      "__device__ int k(int a) { return a; }\n__global__ void k(float* x) {}\n", {"k"}));
  EXPECT_THAT(overloaded.detail, StartsWith("test.cu:2:17: kernel 'k': the name stands"));
  EXPECT_THAT(overloaded.build.log, Not(HasSubstr("innow")));
}

TEST(CpuCompiler, NeedsACompiler) {
  const FreshCache cache;
  CpuCompilerOptions options;
  options.cache = cache.path();
  options.compiler = "/no/such/compiler++";
  EXPECT_THROW(make_cpu_compiler(process::Sandbox::best(), options), Error);
  EXPECT_FALSE(probe_cpu_compiler("/no/such/compiler++").ok);
}

TEST(CpuCompiler, CancelledCompilesAreNotJudged) {
  const FreshCache cache;
  CpuCompilerOptions options;
  options.cache = cache.path();
  const CompileResult result =
      make_cpu_compiler(process::Sandbox::best(), options)
          ->compile(kernel_request("__global__ void k() {}"), [] { return true; });
  EXPECT_EQ(result.verdict, Verdict::NotJudged);
}

TEST(AllowedImports, AreFew) {
  for (const char* name : {"winnow_barrier", "expf", "exp", "__tls_get_addr", "memcpy", "atan2f"}) {
    EXPECT_TRUE(is_allowed_import(name, BuildMode::Plain)) << name;
  }
  for (const char* name : {"system", "write", "syscall", "mmap", "winnow_kernels", "__wrap_memcpy",
                           "__cxa_guard_acquire", "printf", "", "f"}) {
    EXPECT_FALSE(is_allowed_import(name, BuildMode::Plain)) << name;
  }
  EXPECT_TRUE(is_allowed_import("__wrap___tsan_read4", BuildMode::Check));
  EXPECT_FALSE(is_allowed_import("__tsan_read4", BuildMode::Check));
}

} // namespace
} // namespace winnow::evaluators
