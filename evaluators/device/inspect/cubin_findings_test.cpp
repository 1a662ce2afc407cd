#include "evaluators/device/cuda/compile/nvrtc.h"
#include "evaluators/device/cuda/compile/nvrtc_library.h"
#include "evaluators/device/inspect/cubin_findings.h"
#include "evaluators/device/inspect/module_features.h"
#include "evaluators/device/inspect/module_findings.h"
#include "evaluators/device/inspect/sass.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using tasks::Finding;
using tasks::FindingKind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// ---- SASS ----

std::string instruction(std::uint64_t low, std::uint64_t high) {
  std::string bytes(16, '\0');
  std::memcpy(bytes.data(), &low, 8);
  std::memcpy(bytes.data() + 8, &high, 8);
  return bytes;
}

TEST(Sass, CountsClocksTimersAndSleeps) {
  const std::string code = instruction(0x7805, 0x5000) + instruction(0x7919, 0x5100) +
                           instruction(0x79c3, 0x5200) + instruction(0x7805, 0x5300) +
                           instruction(0x795d, 0) + instruction(0x735d, 0) + "rest";
  const SassCounts counts = count_sass(code);
  EXPECT_EQ(counts.clock_reads, 2U);
  EXPECT_EQ(counts.global_timer_reads, 2U);
  EXPECT_EQ(counts.sleeps, 2U);
}

TEST(Sass, IgnoresOtherSpecialRegistersAndInstructions) {
  const SassCounts counts = count_sass(instruction(0x7919, 0x2100) + instruction(0x7805, 0xff00) +
                                       instruction(0x7986, 0x5000) + "short");
  EXPECT_EQ(counts.clock_reads + counts.global_timer_reads + counts.sleeps, 0U);
}

TEST(Sass, IsKnownFromVoltaOn) {
  EXPECT_TRUE(has_known_sass("sm_70"));
  EXPECT_TRUE(has_known_sass("sm_90a"));
  EXPECT_TRUE(has_known_sass("sm_120f"));
  EXPECT_FALSE(has_known_sass("sm_61"));
  EXPECT_FALSE(has_known_sass("gfx90a"));
  EXPECT_FALSE(has_known_sass(""));
}

// ---- NVRTC's output for CUDA C++ ----

class CubinFindings : public testing::TestWithParam<const char*> {
protected:
  void SetUp() override {
    const NvrtcSearch search = find_nvrtc();
    if (!search.installation) {
      GTEST_SKIP() << search.availability.why;
    }
    nvrtc_ = open_nvrtc(search.installation->library, search.installation->builtins);
  }

  RuntimeCompileOutput compile(const std::string& globals, const std::string& body) const {
    RuntimeCompileJob job;
    job.source = globals + "\nextern \"C\" __global__ void k(float* p, int i) {\n" + body + "\n}\n";
    job.file = "test.cu";
    job.architecture = GetParam();
    job.instantiated = {"k"};
    RuntimeCompileOutput output = nvrtc_->compile(job);
    EXPECT_TRUE(output.compiled) << output.log;
    return output;
  }
  static ElfReader reader(const RuntimeCompileOutput& output) {
    return ElfReader(
        std::string(reinterpret_cast<const char*>(output.image.data()), output.image.size()));
  }
  std::vector<Finding> find(const std::string& globals, const std::string& body) const {
    const RuntimeCompileOutput output = compile(globals, body);
    return inspect_cubin(reader(output), output.symbols, GetParam(), output.ptx);
  }
  std::vector<std::string> features(const std::string& body) const {
    return cubin_features(reader(compile("", body)), GetParam(), 1);
  }

  std::unique_ptr<RuntimeCompiler> nvrtc_;
};

TEST_P(CubinFindings, NamesGlobalsThatStartAsZeros) {
  EXPECT_THAT(find("__device__ int counter; __device__ double sums[8];",
                   "atomicAdd(&counter, 1); sums[i] += p[i]; static __device__ float last;"
                   "p[i] = last; last = p[0];"),
              UnorderedElementsAre(Finding{FindingKind::MutableGlobal, "counter (4 bytes)"},
                                   Finding{FindingKind::MutableGlobal, "sums (64 bytes)"},
                                   Finding{FindingKind::MutableGlobal, "k::last (4 bytes)"}));
}

TEST_P(CubinFindings, NamesGlobalsBehindPointersAndFunctions) {
  EXPECT_THAT(find("__device__ float cache[64];"
                   "__noinline__ __device__ void keep(float* to, float v) { *to = v; }",
                   "float* to = i > 4 ? cache + i : p; keep(to, p[i]);"),
              ElementsAre(Finding{FindingKind::MutableGlobal, "cache (256 bytes)"}));
  EXPECT_THAT(find("__device__ int flag;",
                   "asm volatile(\"{ .reg .u64 a; cvta.global.u64 a, flag; st.u32 [a], 1; }\");"
                   "p[i] = flag;"),
              ElementsAre(Finding{FindingKind::MutableGlobal, "flag (4 bytes)"}));
}

TEST_P(CubinFindings, HasNoFalseAlarms) {
  EXPECT_THAT(find("// static __device__ int counter; clock64(); __nanosleep(1);\n"
                   "/* %globaltimer */ __device__ const float table[4] = {1, 2, 3, 4};\n"
                   "static constexpr float more[4] = {4, 3, 2, 1};\n"
                   "__constant__ float bank[4] = {5, 6, 7, 8};\n"
                   "__device__ float never_written[4] = {9, 1, 2, 3};\n",
                   "__shared__ float tile[64]; static constexpr float local[4] = {7, 6, 5, 4};\n"
                   "tile[threadIdx.x] = p[i]; __syncthreads();\n"
                   "const char* words = \"clock() %clock64 NANOSLEEP\";\n"
                   "if (i == 77) printf(\"%s static __device__ %d\", words, i);\n"
                   "p[i] = table[i & 3] + more[i & 3] + bank[i & 3] + local[i & 3] + tile[i] +\n"
                   "       never_written[i & 3] + threadIdx.x + blockIdx.x + (float)(size_t)p;"),
              IsEmpty());
}

TEST_P(CubinFindings, AConstantOfZeroIsNoState) {
  EXPECT_THAT(find("constexpr int kStream = 0; const float kScale = 0; static int never_used;\n"
                   "template <class T> struct Trait { static constexpr bool value = false; };",
                   "if (kStream) p[1] = 2; p[i] = kScale + Trait<int>::value;"),
              IsEmpty());
  EXPECT_THAT(find("constexpr int kSlot = 0;",
                   "volatile int* to = i > 4 ? const_cast<int*>(&kSlot) : (int*)p; *to += i;"),
              ElementsAre(Finding{FindingKind::MutableGlobal, "kSlot (4 bytes)"}));
}

TEST_P(CubinFindings, SeesClocksTimersAndSleeps) {
  EXPECT_THAT(find("", "p[i] = clock();"),
              ElementsAre(Finding{FindingKind::ClockRead, "k: 1 instruction"}));
  EXPECT_THAT(find("", "long long t = clock64(); p[i] *= 2; p[i + 1] = clock64() - t;"),
              ElementsAre(Finding{FindingKind::ClockRead, "k: 2 instructions"}));
  EXPECT_THAT(find("", "unsigned h; asm volatile(\"mov.u32 %0, %%clock_hi;\" : \"=r\"(h)); "
                       "p[i] = h;"),
              ElementsAre(Finding{FindingKind::ClockRead, "k: 1 instruction"}));
  for (const char* name : {"globaltimer_lo", "globaltimer_hi"}) {
    EXPECT_THAT(find("", std::string("unsigned t; asm volatile(\"mov.u32 %0, %%") + name +
                             ";\" : \"=r\"(t)); p[i] = t;"),
                ElementsAre(Finding{FindingKind::GlobalTimerRead, "k: 1 instruction"}));
  }
  EXPECT_THAT(find("", "__nanosleep(100);"),
              ElementsAre(Finding{FindingKind::Nanosleep, "k: 1 instruction"}));
  EXPECT_THAT(find("", "__nanosleep(i); __nanosleep((int)p[threadIdx.x]);"),
              ElementsAre(Finding{FindingKind::Nanosleep, "k: 2 instructions"}));
}

TEST_P(CubinFindings, SeesClocksInFunctionsThatKernelsCall) {
  EXPECT_THAT(
      find("__noinline__ __device__ int when(int i) { return i + clock(); }", "p[i] = when(i);"),
      ElementsAre(testing::Field(&Finding::kind, FindingKind::ClockRead)));
}

TEST_P(CubinFindings, TellStructuresApart) {
  EXPECT_THAT(features("__shared__ float s[64]; s[threadIdx.x] = p[i]; __syncthreads();"
                       "atomicAdd(p, __shfl_xor_sync(~0u, s[i], 3));"),
              ElementsAre("1 kernel"));
  EXPECT_THAT(
      features("asm volatile(\"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
               "{%4,%4}, {%4}, {%0,%1,%2,%3};\" : \"+f\"(p[0]), \"+f\"(p[1]), \"+f\"(p[2]), "
               "\"+f\"(p[3]) : \"r\"(i));"),
      ElementsAre("1 kernel", "mma"));
  const std::string architecture = GetParam();
  if (architecture != "sm_75") {
    EXPECT_THAT(features("__shared__ float s[64]; asm volatile(\"cp.async.ca.shared.global [%0], "
                         "[%1], 16; cp.async.wait_all;\" :: "
                         "\"r\"((unsigned)__cvta_generic_to_shared(s)), \"l\"(p)); p[i] = s[i];"),
                ElementsAre("1 kernel", "cp.async"));
  }
  if (architecture != "sm_75" && architecture != "sm_80") {
    EXPECT_THAT(features("__shared__ alignas(128) float s[64]; asm volatile(\"cp.async.bulk.global"
                         ".shared::cta.bulk_group [%1], [%0], 64;\" :: "
                         "\"r\"((unsigned)__cvta_generic_to_shared(s)), \"l\"(p));"),
                ElementsAre("1 kernel", "cp.async.bulk"));
  }
  if (architecture == "sm_90a") {
    EXPECT_THAT(
        features("asm volatile(\"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
                 "{%0,%1,%2,%3}, %4, %4, 1, 1, 1, 0, 0; wgmma.commit_group.sync.aligned; "
                 "wgmma.wait_group.sync.aligned 0;\" : \"+f\"(p[0]), \"+f\"(p[1]), \"+f\"(p[2]), "
                 "\"+f\"(p[3]) : \"l\"((long long)i));"),
        ElementsAre("1 kernel", "wgmma"));
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, CubinFindings,
                         testing::Values("sm_75", "sm_80", "sm_90a", "sm_100", "sm_120"));

TEST(ModuleFindings, ListsFewOfAKind) {
  const std::vector<Finding> many(20, {FindingKind::MutableGlobal, "x"});
  const std::vector<Finding> few = shorten(many);
  ASSERT_EQ(few.size(), 9U);
  EXPECT_EQ(few.back().detail, "and 12 more");
  EXPECT_THAT(shorten({}), IsEmpty());
}

TEST(ModuleFindings, NamesKernelsWithStackOrSpills) {
  tasks::KernelResources kernel;
  kernel.kernel = "k";
  EXPECT_THAT(local_memory({kernel}), IsEmpty());
  kernel.stack_bytes = 16;
  EXPECT_THAT(
      local_memory({kernel}),
      ElementsAre(Finding{FindingKind::LocalMemory, "k: 16 bytes of stack, 0 bytes of spills"}));
}

} // namespace
} // namespace winnow::evaluators
