#include "evaluators/device/compile/module_findings.h"
#include "evaluators/device/cuda/compile/cubin_findings.h"
#include "evaluators/device/cuda/compile/nvrtc.h"
#include "evaluators/device/cuda/compile/nvrtc_library.h"
#include "evaluators/device/cuda/compile/ptx_writes.h"
#include "evaluators/device/cuda/compile/sass.h"

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

// ---- PTX ----

std::set<std::string> writes(const std::string& body) {
  return written_globals(".version 9.0\n.target sm_90a\n.address_size 64\n"
                         ".extern .func (.param .b32 func_retval0) vprintf (.param .b64 a);\n"
                         ".global .align 4 .u32 g;\n"
                         ".visible .global .align 4 .b8 t[8] = {1, 0, 0, 0, 2, 0, 0, 0};\n"
                         ".visible .entry k(.param .u64 k_param_0)\n.maxntid 128, 1, 1\n{\n"
                         ".reg .b64 %rd<9>;\n" +
                         body + "\nret;\n}\n");
}

TEST(PtxWrites, SeesStoresAndAtomics) {
  EXPECT_THAT(writes("st.global.u32 [g], 1;"), ElementsAre("g"));
  EXPECT_THAT(writes("@%p1 st.global.u32 [g+4], %r1;"), ElementsAre("g"));
  EXPECT_THAT(writes("L1: mov.u64 %rd1, t; add.s64 %rd2, %rd1, %rd5; red.global.add.u32 [%rd2], "
                     "%r1;"),
              ElementsAre("t"));
  EXPECT_THAT(writes("mov.b64 {%r1, %r2}, g; mov.b64 %rd3, {%r9, %r2}; st.u32 [%rd3], 0;"),
              ElementsAre("g"));
  EXPECT_THAT(writes("{ .reg .u64 x; cvta.global.u64 x, g; st.u32 [x], 0; }"), ElementsAre("g"));
  EXPECT_THAT(writes("// c\n/* ; */ st.global.v4.f32 [t], {%f1, %f2, %f3, %f4};"),
              ElementsAre("t"));
}

TEST(PtxWrites, TakesWhatEscapesForWritten) {
  EXPECT_THAT(writes("mov.u64 %rd1, g; st.global.u64 [%rd7], %rd1;"), ElementsAre("g"));
  EXPECT_THAT(writes("mov.u64 %rd1, g; st.param.b64 [param0+0], %rd1;\ncall.uni f, (param0);"),
              ElementsAre("g"));
  EXPECT_THAT(writes("mov.u64 %rd1, g; st.param.b64 [func_retval0+0], %rd1;"), ElementsAre("g"));
  EXPECT_THAT(writes("mov.u64 %rd1, g; some.new.instruction [%rd1], 4;"), ElementsAre("g"));
  EXPECT_THAT(writes(".loc 1 2 3\nst.global.u32 [g], 1;"), ElementsAre("g"));
  EXPECT_THAT(written_globals(".global .u32 g;\n.global .u64 p = generic(g);"), ElementsAre("g"));
}

TEST(PtxWrites, LetsReadersBe) {
  EXPECT_THAT(writes("ld.global.u32 %r1, [g]; st.global.u32 [%rd3], %r1;"), IsEmpty());
  EXPECT_THAT(writes("mov.u64 %rd1, t; add.s64 %rd2, %rd1, 4; ld.global.nc.f32 %f1, [%rd2];"),
              IsEmpty());
  EXPECT_THAT(writes("mov.u64 %rd1, t; st.param.b64 [param0+0], %rd1;\n"
                     "call.uni (retval0), vprintf, (param0, param1);"),
              IsEmpty());
  EXPECT_THAT(writes("// st.global.u32 [g], 1;\n/* st.u32 [t], 1; */ .pragma \"st [g];\";"),
              IsEmpty());
}

TEST(PtxWrites, DoesNotTrustAPrintfOfTheCandidate) {
  EXPECT_THAT(written_globals(".global .u32 g;\n.func vprintf(.param .b64 a)\n{ ret; }\n"
                              ".entry k()\n{ mov.u64 %rd1, g; st.param.b64 [param0+0], %rd1;\n"
                              "call.uni vprintf, (param0); }"),
              ElementsAre("g"));
}

TEST(PtxWrites, RegistersBelongToTheirFunction) {
  EXPECT_THAT(written_globals(".global .u32 g;\n.entry a()\n{ mov.u64 %rd1, g; ld.u32 %r1, [%rd1]; "
                              "ret; }\n.entry b()\n{ ld.param.u64 %rd1, [p]; st.u32 [%rd1], 0; }"),
              IsEmpty());
}

TEST(PtxWrites, SurvivesGarbage) {
  for (const char* text :
       {"", "{", "}", "};{", ";", ".global", ".global ;", ".global =;", "\"", "/*", "{ @", "{ call",
        "{ st.param", "{ mov ; }", ".global .u32 g = {", "{ : } ]"}) {
    EXPECT_NO_THROW(written_globals(text)) << text;
  }
}

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

// ---- what NVRTC makes of CUDA C++ ----

class CubinFindings : public testing::TestWithParam<const char*> {
protected:
  void SetUp() override {
    const NvrtcSearch search = find_nvrtc();
    if (!search.installation) {
      GTEST_SKIP() << search.availability.why;
    }
    nvrtc_ = open_nvrtc(search.installation->library, search.installation->builtins);
  }

  std::vector<Finding> find(const std::string& globals, const std::string& body) const {
    RuntimeCompileJob job;
    job.source = globals + "\nextern \"C\" __global__ void k(float* p, int i) {\n" + body + "\n}\n";
    job.file = "test.cu";
    job.architecture = GetParam();
    job.instantiated = {"k"};
    const RuntimeCompileOutput output = nvrtc_->compile(job);
    EXPECT_TRUE(output.compiled) << output.log;
    const ElfReader cubin(
        std::string(reinterpret_cast<const char*>(output.image.data()), output.image.size()));
    return inspect_cubin(cubin, output.symbols, job.architecture, output.ptx);
  }

  std::unique_ptr<RuntimeCompiler> nvrtc_;
};

TEST_P(CubinFindings, NamesGlobalsThatAreWritten) {
  EXPECT_THAT(find("__device__ int counter; __device__ double sums[8] = {1};",
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
