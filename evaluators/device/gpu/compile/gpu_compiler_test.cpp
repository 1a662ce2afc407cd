#include "base/error.h"
#include "base/files.h"
#include "evaluators/device/cuda/compile/nvrtc.h"
#include "evaluators/device/cuda/compile/nvrtc_library.h"
#include "evaluators/device/cuda/cuda_driver.h"
#include "evaluators/device/gpu/compile/gpu_compiler.h"
#include "evaluators/device/inspect/gpu_module.h"
#include "tasks/parse/task_parse.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/plan/resolve/plan_resolve.h"
#include "tasks/plan/tuning/parameter_choices.h"
#include "tasks/reference/narrowing.h"
#include "tasks/task/task.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using tasks::Verdict;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

CompileRequest request(std::string source, std::vector<std::string> kernels = {"k"}) {
  CompileRequest request;
  request.file = "test.cu";
  request.source = std::move(source);
  request.kernels = std::move(kernels);
  return request;
}

// Needs NVRTC and CUDA's headers, but no GPU.
class CudaCompilerTest : public testing::Test {
protected:
  void SetUp() override {
    const Availability availability = probe_nvrtc();
    if (!availability.ok) {
      GTEST_SKIP() << availability.why;
    }
    if (availability.detail.find("no CUDA headers") != std::string::npos) {
      GTEST_SKIP() << availability.detail;
    }
  }

  std::unique_ptr<Compiler> compiler(const std::string& architecture = "sm_90a") const {
    return make_gpu_compiler(process::Sandbox::best(), options(architecture));
  }

  GpuCompilerOptions options(const std::string& architecture = "sm_90a") const {
    GpuCompilerOptions options;
    options.vendor = &kCudaVendor;
    options.architecture = architecture;
    options.cache = cache_.path();
    return options;
  }

  CompileResult compile(const CompileRequest& wanted) const { return compiler()->compile(wanted); }
  CompileResult compile(const std::string& source) const { return compile(request(source)); }

  void expect_compiles(const std::string& source) const {
    const CompileResult result = compile(source);
    EXPECT_EQ(result.verdict, Verdict::Correct) << result.detail;
  }

  std::string signature(const CompileResult& result, std::size_t kernel = 0) const {
    return tasks::encode_parameters(result.facts.signatures.at(kernel).parameters);
  }

  TemporaryDirectory cache_{"gpu-compile-test"};
};

const std::string kSoftmax = R"(#include <cuda_runtime.h>
#include <math.h>
#include <cstdint>
template <int BLOCK_SIZE, typename T>
__global__ void softmax(const T* __restrict__ x, float* y, int rows, int64_t cols, bool flag) {
  extern __shared__ unsigned char raw[];
  __shared__ float part[BLOCK_SIZE];
  float top = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += BLOCK) top = fmaxf(top, x[blockIdx.x * cols + c]);
  part[threadIdx.x] = top;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + s]);
    __syncthreads();
  }
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    y[blockIdx.x * cols + c] = flag ? expf(x[blockIdx.x * cols + c] - part[0]) : (float)raw[c];
  }
}
)";

CompileRequest softmax_request() {
  CompileRequest wanted = request(kSoftmax, {"softmax<BLOCK, float>", "softmax<64, double>"});
  wanted.parameters = {{"BLOCK", 128}};
  wanted.constants = {"sizeof(float) * BLOCK", "-(1LL << 40)"};
  return wanted;
}

TEST_F(CudaCompilerTest, CompilesTemplatesAndReadsWhatTheyAre) {
  const CompileResult result = compile(softmax_request());
  ASSERT_EQ(result.verdict, Verdict::Correct) << result.detail;
  ASSERT_EQ(result.facts.signatures.size(), 2U);
  EXPECT_EQ(result.facts.signatures[1].kernel, "softmax<64, double>");
  EXPECT_EQ(signature(result, 0), "p4fc:x p4f:y i4:rows i8:cols b1:flag");
  EXPECT_EQ(signature(result, 1), "p8fc:x p4f:y i4:rows i8:cols b1:flag");
  EXPECT_EQ(result.facts.constants.at("sizeof(float) * BLOCK"), 512);
  EXPECT_EQ(result.facts.constants.at("-(1LL << 40)"), -(std::int64_t{1} << 40));
  const auto resources = result.facts.signatures[0].resources;
  ASSERT_TRUE(resources);
  EXPECT_EQ(resources->static_shared_bytes, 512);
  EXPECT_GT(resources->registers, 4);
  EXPECT_EQ(resources->spill_store_bytes, 0);
  EXPECT_EQ(result.build.kernels.size(), 2U);
  EXPECT_EQ(result.build.architecture, "sm_90a");
  EXPECT_THAT(result.build.compiler, StartsWith("NVRTC 1"));
  EXPECT_THAT(result.build.log, HasSubstr("softmax<BLOCK, float>: "));
}

TEST_F(CudaCompilerTest, WritesAModuleForTheDriver) {
  const CompileResult result = compile(softmax_request());
  ASSERT_EQ(result.verdict, Verdict::Correct) << result.detail;
  const GpuModuleFile module = read_gpu_module(result.module);
  EXPECT_EQ(module.architecture, "sm_90a");
  EXPECT_EQ(module.symbols.at("softmax<BLOCK, float>"), "_Z7softmaxILi128EfEvPKT0_Pfixb");
  EXPECT_EQ(module.image.at(1), std::byte{'E'});
}

TEST_F(CudaCompilerTest, EncodesParametersOfEveryKind) {
  const CompileResult result = compile(R"(
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
struct Opaque;
extern "C" __global__ void k(const half* h, __nv_bfloat16* b, const __nv_fp8_e4m3* e, const void* v,
    Opaque* o, const float4* q, unsigned char u, signed char c, short s, unsigned n, long long l,
    unsigned long long w, float f, double d, half one, bool flag,
    const __grid_constant__ CUtensorMap map, const int* const* table) {
  if (flag) b[0] = __float2bfloat16(f);
}
)");
  ASSERT_EQ(result.verdict, Verdict::Correct) << result.detail;
  EXPECT_EQ(signature(result),
            "p2fc:h p2f:b p1fc:e p1c:v p1:o p16c:q u1:u i1:c i2:s u4:n i8:l u8:w f4:f f8:d f2:one "
            "b1:flag o128:map p8c:table");
}

TEST_F(CudaCompilerTest, CompilesCooperativeGroupsQuickly) {
  const CompileResult result = compile(R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
__global__ void k(float* x) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const float sum = cg::reduce(warp, x[threadIdx.x], cg::plus<float>());
  cg::this_grid().sync();
  if (warp.thread_rank() == 0) x[0] = sum;
}
)");
  ASSERT_EQ(result.verdict, Verdict::Correct) << result.detail;
  EXPECT_EQ(signature(result), "p4f:x");
}

// cuda_fp4.h comes with CUDA 12.8, which is the first that knows sm_100a, too.
bool has_four_bit_floats() {
  const auto toolkit = find_nvrtc().installation;
  return toolkit && std::any_of(toolkit->include_directories.begin(),
                                toolkit->include_directories.end(), [](const auto& directory) {
                                  return std::filesystem::exists(directory / "cuda_fp4.h");
                                });
}

TEST_F(CudaCompilerTest, ConvertsFourBitFloatsAndTheirScales) {
  if (!has_four_bit_floats()) {
    GTEST_SKIP() << "the toolkit is older than CUDA 12.8: it has no cuda_fp4.h";
  }
  for (const char* architecture : {"sm_80", "sm_90a", "sm_100a"}) {
    const CompileResult result = compiler(architecture)->compile(request(R"(
#include <cuda_bf16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>
__global__ void k(const float2* x, __nv_fp4x2_e2m1* w, const __nv_fp8_e8m0* scale, float* y) {
  w[0].__x = __nv_cvt_float2_to_fp4x2(x[0], __NV_E2M1, cudaRoundNearest);
  const __half2 two = __nv_cvt_fp4x2_to_halfraw2(w[1].__x, __NV_E2M1);
  y[0] = __low2float(two) * float(scale[0]);
}
)"));
    EXPECT_EQ(result.verdict, Verdict::Correct) << architecture << ": " << result.detail;
  }
}

// Only compiled: none of these instructions has run here.
TEST_F(CudaCompilerTest, CompilesInstructionsOfBlackwell) {
  if (!has_four_bit_floats()) {
    GTEST_SKIP() << "the toolkit is older than CUDA 12.8: it does not know sm_100a";
  }
  const CompileRequest wanted = request(R"(
__global__ void k(const float2* x, unsigned* w) {
  asm("{ .reg .b8 two; cvt.rn.satfinite.e2m1x2.f32 two, %1, %2; cvt.u32.u8 %0, two; }"
      : "=r"(w[0]) : "f"(x[0].y), "f"(x[0].x));
  __shared__ unsigned tensor_memory;
  const unsigned at = (unsigned)__cvta_generic_to_shared(&tensor_memory);
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" :: "r"(at));
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" :: "r"(tensor_memory));
}
)");
  const CompileResult result = compiler("sm_100a")->compile(wanted);
  EXPECT_EQ(result.verdict, Verdict::Correct) << result.detail;
  EXPECT_EQ(result.build.architecture, "sm_100a");
  EXPECT_EQ(compile(wanted).verdict, Verdict::CompileError); // sm_90a has none of them
}

TEST_F(CudaCompilerTest, CompilesBlockReduceOfCub) {
  expect_compiles(R"(
#include <cub/cub.cuh>
__global__ void k(float* x) {
  using Reduce = cub::BlockReduce<float, 128>;
  __shared__ typename Reduce::TempStorage storage;
  const float sum = Reduce(storage).Sum(x[threadIdx.x]);
  if (threadIdx.x == 0) x[0] = sum;
}
)");
}

TEST_F(CudaCompilerTest, CompilesSortAndScanOfCubBesideOtherHeaders) {
  expect_compiles(R"(#define ITEMS 4
#include "cub/cub.cuh"
#include <cooperative_groups.h>
#include <cuda_fp16.h>
__global__ void k(unsigned* x) {
  using Sort = cub::BlockRadixSort<unsigned, 128, ITEMS>;
  using Scan = cub::BlockScan<unsigned, 128>;
  __shared__ union { typename Sort::TempStorage sort; typename Scan::TempStorage scan; } storage;
  unsigned v[ITEMS];
  for (int i = 0; i < ITEMS; ++i) v[i] = x[threadIdx.x * ITEMS + i];
  Sort(storage.sort).Sort(v);
  cooperative_groups::this_thread_block().sync();
  Scan(storage.scan).ExclusiveSum(v[0], v[1]);
  for (int i = 0; i < ITEMS; ++i) x[threadIdx.x * ITEMS + i] = v[i];
}
)");
}

TEST_F(CudaCompilerTest, ErrorsBehindCubKeepTheirLines) {
  const std::string wrong = "#include <cub/cub.cuh>\n"
                            "template <int N> __global__ void k(float* x) {\n"
                            "  cub::WarpExchange<int, 4, N - 95> exchange;\n"
                            "  x[0] = undefined_thing;\n"
                            "}\n";
  const CompileResult result = compile(request(wrong, {"k<128>"}));
  EXPECT_EQ(result.verdict, Verdict::CompileError);
  EXPECT_THAT(result.detail, StartsWith("test.cu:4: identifier \"undefined_thing\""));
  EXPECT_THAT(result.build.log, HasSubstr("test.cu:3: static assertion failed"));
}

TEST_F(CudaCompilerTest, CompilesTensorCores) {
  expect_compiles(R"(
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
__global__ void k(const half* a, const half* b, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
)");
  expect_compiles(R"(
__global__ void k(float* out, unsigned long long a, unsigned long long b) {
  float d[4] = {};
  asm volatile("wgmma.fence.sync.aligned;\n");
  asm volatile("{\nwgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, "
               "1, 1, 1, 0, 0;\n}\n" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "l"(a), "l"(b));
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n" ::: "memory");
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = d[i];
}
)");
}

TEST_F(CudaCompilerTest, CompilesHelpersWithoutDevice) {
  expect_compiles("#include <algorithm>\ninline float twice(float v) { return std::max(v, 0.f); }\n"
                  "__global__ void k(float* x) { x[0] = twice(x[0]) + FLT_MAX; }\n");
}

TEST_F(CudaCompilerTest, PlacesErrorsInTheCandidatesLines) {
  const CompileResult result = compile("#include <cuda_runtime.h>\n"
                                       "__global__ void k(float* x) {\n"
                                       "  x[threadIdx.w] = undefined_thing;\n"
                                       "}\n");
  EXPECT_EQ(result.verdict, Verdict::CompileError);
  EXPECT_THAT(result.detail, StartsWith("test.cu:3: class \"uint3\" has no member \"w\""));
  EXPECT_THAT(result.detail, HasSubstr("only x, y and z\n  3 | x[threadIdx.w]"));
  EXPECT_THAT(result.build.log, HasSubstr("undefined_thing"));
  EXPECT_TRUE(result.module.empty());
}

TEST_F(CudaCompilerTest, PlacesErrorsOfPtx) {
  const CompileResult result = compile("__global__ void k(float* x) {\n"
                                       "  asm volatile(\"mov.f33 %0, %1;\" : \"=f\"(x[0]) : "
                                       "\"f\"(x[1]));\n}\n");
  EXPECT_EQ(result.verdict, Verdict::CompileError);
  EXPECT_THAT(result.detail, StartsWith("test.cu:2: Unknown modifier '.f33' in 'mov.f33"));
}

TEST_F(CudaCompilerTest, ExplainsHeadersErrorsAtTheLineThatLedThere) {
  const CompileResult result =
      compile("#include <cooperative_groups.h>\n__global__ void k(float* x) {\n"
              "  auto t = "
              "cooperative_groups::tiled_partition<33>(cooperative_groups::this_thread_block());\n"
              "  x[0] = t.size();\n}\n");
  EXPECT_EQ(result.verdict, Verdict::CompileError);
  EXPECT_THAT(result.detail, StartsWith("test.cu:3: static assertion failed"));
}

TEST_F(CudaCompilerTest, NamesKernelsThatCannotBeInstantiated) {
  const CompileResult result = compile(
      request("template <int B> __global__ void k(float* x) { x[0] = B; }\n", {"k<float>"}));
  EXPECT_EQ(result.verdict, Verdict::CompileError);
  EXPECT_THAT(result.detail, StartsWith("test.cu:1:34: "));
  EXPECT_THAT(result.detail, HasSubstr("kernel 'k<float>'"));
}

TEST_F(CudaCompilerTest, RefusesLargeStaticSharedMemory) {
  const CompileResult result =
      compile("\n__global__ void k(float* x, int i) {\n  __shared__ float s[16448];\n"
              "  s[threadIdx.x] = x[i]; __syncthreads(); x[0] = s[i];\n}\n");
  EXPECT_EQ(result.verdict, Verdict::CompileError);
  EXPECT_THAT(result.detail, StartsWith("test.cu:2: "));
  EXPECT_THAT(result.detail, HasSubstr("65792 bytes"));
  EXPECT_THAT(result.detail, HasSubstr("extern __shared__"));
}

TEST_F(CudaCompilerTest, ReportsSpills) {
  const CompileResult result = compile(R"(
__global__ void __launch_bounds__(1024, 2) k(float* x, int n) {
  float v[96];
  for (int i = 0; i < 96; ++i) v[i] = x[i * n + threadIdx.x];
  for (int r = 0; r < n; ++r) {
    #pragma unroll
    for (int i = 0; i < 96; ++i) v[i] = v[i] * v[(i + 7) % 96] + v[(i + 31) % 96];
  }
  for (int i = 0; i < 96; ++i) x[i * n + threadIdx.x] = v[i];
}
)");
  ASSERT_EQ(result.verdict, Verdict::Correct) << result.detail;
  EXPECT_LE(result.build.kernels[0].registers, 32);
  EXPECT_GT(result.build.kernels[0].spill_store_bytes, 0);
  EXPECT_GT(result.build.kernels[0].stack_bytes, 0);
  EXPECT_THAT(result.build.log, HasSubstr("spills"));
}

std::string digest_of(const CompileResult& result) {
  EXPECT_EQ(result.verdict, Verdict::Correct) << result.detail;
  EXPECT_EQ(result.build.machine_code_digest.size(), 64U);
  return result.build.machine_code_digest;
}

TEST_F(CudaCompilerTest, KnowsTheSameMachineCode) {
  CompileRequest wanted = request("__global__ void k(float* x, int n) { x[n] = 2.f * x[n]; }");
  const std::string first = digest_of(compile(wanted));
  wanted.file = "other.cu";
  wanted.source = "// other\n#define TWICE v + v\n__global__ void k(float* x, int n)\n"
                  "{ float v = x[n]; x[n] = TWICE; }";
  EXPECT_EQ(first, digest_of(compile(wanted)));
  wanted.source = "__global__ void k(float* x, int n) { x[n] = 3.f * x[n]; }";
  EXPECT_NE(first, digest_of(compile(wanted)));
}

// The kernels have the same instructions. Their results depend on data that differs.
TEST_F(CudaCompilerTest, TheDigestCoversWhateverAKernelCanRead) {
  const std::string kernel = "__global__ void k(float* x) { x[0] = a * x[1] + b; }\n";
  const std::string print = "__global__ void k() { printf(\"";
  const std::string shared = "__global__ void k(float* x) { __shared__ float s";
  const std::vector<std::string> sources{
      "__device__ float a = 1, b = 2; " + kernel,
      "__device__ float a = 2, b = 1; " + kernel, // values exchanged
      "__device__ float b = 1, a = 2; " + kernel, // and declared in the other order
      "__constant__ float a = 1, b = 2; " + kernel,
      "__constant__ float a = 2, b = 1; " + kernel,
      "__device__ float winnow_a = 1;\n#define a winnow_a\n__device__ float b = 2; " + kernel,
      "__device__ float winnow_a = 3;\n#define a winnow_a\n__device__ float b = 2; " + kernel,
      "__device__ float a = 1, b; " + kernel, // zeros have no bytes in the file
      "__device__ float a = 1, b, c[2]; " + kernel,
      "__device__ float a, b = 1; " + kernel,
      print + "a\"); }\n",
      print + "b\"); }\n",
      shared + "[64]; s[threadIdx.x] = x[0]; __syncthreads(); x[1] = s[0]; }",
      shared + "[65]; s[threadIdx.x] = x[0]; __syncthreads(); x[1] = s[0]; }"};
  std::map<std::string, std::string> known;
  for (const std::string& source : sources) {
    const auto [found, fresh] = known.emplace(digest_of(compile(request(source))), source);
    EXPECT_TRUE(fresh) << source << "\nhas the digest of\n" << found->second;
  }
}

TEST_F(CudaCompilerTest, TheDigestKnowsWhichKernelIsWhich) {
  const std::string both = "__global__ void a(float* x) { x[0] = 1; }\n"
                           "__global__ void b(float* x) { x[0] = 2; }\n";
  EXPECT_NE(digest_of(compile(request(both, {"a", "b"}))),
            digest_of(compile(request(both, {"b", "a"}))));
}

TEST_F(CudaCompilerTest, LeaksNoOtherFile) {
  for (const char* line : {"#include \"/etc/passwd\"", "#include </etc/passwd>",
                           "#define F \"/etc/passwd\"\n#include F",
                           "#line 1 \"/etc/passwd\"\nerror here", "#include <../../etc/passwd>"}) {
    const CompileResult result = compile(std::string(line) + "\n__global__ void k() { error }\n");
    EXPECT_EQ(result.verdict, Verdict::CompileError) << line;
    EXPECT_THAT(result.detail + result.build.log, Not(HasSubstr("root:"))) << line;
  }
}

TEST_F(CudaCompilerTest, RefusesLibrariesThatRunOnTheHost) {
  EXPECT_THAT(compile("#include <cutlass/gemm.h>\n__global__ void k() {}").detail,
              HasSubstr("CUTLASS and CuTe are not available"));
  EXPECT_THAT(compile("#include <thrust/sort.h>\n__global__ void k() {}").detail,
              HasSubstr("host library"));
}

TEST_F(CudaCompilerTest, EndsACompileBomb) {
  GpuCompilerOptions tight = options();
  tight.timeout = std::chrono::milliseconds(1500);
  std::string bomb = "#define A0 x[0] += 1;\n";
  for (int i = 1; i < 16; ++i) {
    const std::string before = "A" + std::to_string(i - 1) + " ";
    bomb += "#define A" + std::to_string(i) + " " + before + before + before + before + "\n";
  }
  const CompileResult result = make_gpu_compiler(process::Sandbox::best(), tight)
                                   ->compile(request(bomb + "__global__ void k(float* x) { A15 }"));
  EXPECT_EQ(result.verdict, Verdict::OverLimit) << result.detail;
  EXPECT_TRUE(result.module.empty());
}

TEST_F(CudaCompilerTest, FindsBuiltModulesAgain) {
  const auto shared = compiler();
  const CompileResult first = shared->compile(softmax_request());
  const CompileResult second = shared->compile(softmax_request());
  EXPECT_FALSE(first.build.from_cache);
  EXPECT_TRUE(second.build.from_cache);
  EXPECT_EQ(first.module, second.module);
  EXPECT_EQ(second.facts.constants, first.facts.constants);
  ASSERT_EQ(second.build.kernels.size(), 2U);
  EXPECT_EQ(second.build.kernels[0].registers, first.build.kernels[0].registers);
  EXPECT_EQ(second.build.machine_code_digest, first.build.machine_code_digest);
  const CompileResult other = compiler("sm_80")->compile(softmax_request());
  EXPECT_FALSE(other.build.from_cache);
  EXPECT_NE(other.module, first.module);
}

TEST_F(CudaCompilerTest, CompilesSeveralAtOnce) {
  const auto shared = compiler();
  std::vector<std::future<CompileResult>> running;
  for (int i = 0; i < 4; ++i) {
    running.push_back(std::async(std::launch::async, [&shared, i] {
      return shared->compile(
          request("__global__ void k(float* x) { x[0] = " + std::to_string(i) + "; }"));
    }));
  }
  for (auto& one : running) {
    const CompileResult result = one.get();
    EXPECT_EQ(result.verdict, Verdict::Correct) << result.detail;
  }
}

TEST_F(CudaCompilerTest, UsesFastMathWhenAsked) {
  CompileRequest wanted =
      request("__global__ void k(float* x) { x[0] = sinf(x[0]) / expf(x[1]); }");
  const CompileResult exact = compile(wanted);
  wanted.fast_math = true;
  const CompileResult fast = compile(wanted);
  ASSERT_EQ(fast.verdict, Verdict::Correct) << fast.detail;
  EXPECT_NE(exact.build.machine_code_digest, fast.build.machine_code_digest);
}

TEST_F(CudaCompilerTest, RefusesWhatIsNoArchitecture) {
  EXPECT_THROW(compiler("gfx90a"), Error);
  EXPECT_THROW(compiler("sm_90a -I/etc"), Error);
  EXPECT_EQ(compiler("sm_10")->compile(request("__global__ void k() {}")).verdict,
            Verdict::Infrastructure);
}

std::vector<CompileRequest> catalogue_requests(const std::filesystem::path& folder) {
  const tasks::Task task = tasks::load_task(folder);
  std::vector<CompileRequest> requests;
  for (const char* name : {"baseline.cu", "reference.cu"}) {
    const bool reference = std::string_view(name) == "reference.cu";
    const std::string text = reference ? tasks::plain_reference(task)
                                       : read_file(folder / name, tasks::kMaxKernelFileBytes);
    const auto file = tasks::parse_kernel_file(text, name).kernel_file.value();
    const tasks::Task view = reference ? tasks::reference_view(task) : task;
    std::vector<Diagnostic> errors;
    CompileRequest wanted = request(file.source);
    wanted.parameters = tasks::parameter_choices(file.plan, 1).at(0);
    wanted.kernels = tasks::kernel_names(file, view, task.shapes, wanted.parameters,
                                         tasks::DeviceFacts(), errors);
    EXPECT_TRUE(errors.empty()) << folder << name;
    requests.push_back(std::move(wanted));
  }
  return requests;
}

// Compiles every kernel file of the catalogue for a range of GPUs.
class CatalogueTest : public CudaCompilerTest, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Architectures, CatalogueTest, testing::Values("sm_90a", "sm_80", "sm_75"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(CatalogueTest, Compiles) {
  const auto shared = compiler(GetParam());
  int files = 0;
  const std::filesystem::path root = std::filesystem::path(WINNOW_SOURCE_DIR) / "tasks/catalogue";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().filename() != "task.toml") {
      continue;
    }
    for (const CompileRequest& wanted : catalogue_requests(entry.path().parent_path())) {
      const CompileResult result = shared->compile(wanted);
      EXPECT_EQ(result.verdict, Verdict::Correct) << entry.path() << "\n" << result.detail;
      ++files;
    }
  }
  EXPECT_GE(files, 12);
}

} // namespace
} // namespace winnow::evaluators
