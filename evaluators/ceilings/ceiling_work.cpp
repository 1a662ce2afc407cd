#include "evaluators/ceilings/ceiling_work.h"

#include "base/embedded_file.h"
#include "base/error.h"
#include "tasks/plan/architecture.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace winnow::evaluators {

namespace ceilings {
const std::vector<EmbeddedFile>& embedded_files();
} // namespace ceilings

namespace {

constexpr std::int64_t kKibibyte = 1024;
constexpr std::int64_t kMebibyte = 1024 * kKibibyte;
constexpr std::int64_t kBytesOfElement = 8; // one float is read and one is written

struct TensorKind {
  const char* kind;
  CeilingWork work;
  double depth;   // k of one instruction: 32 bytes
  int least_arch; // lowest architecture with mma.sync for this type: "sm_89" is 89
};
constexpr TensorKind kTensorKinds[] = {
    {"f16_tensor", CeilingWork::F16Tensor, 16, 80},
    {"bf16_tensor", CeilingWork::Bf16Tensor, 16, 80},
    {"tf32_tensor", CeilingWork::Tf32Tensor, 8, 80},
    {"f8_tensor", CeilingWork::F8Tensor, 32, 89},
    {"i8_tensor", CeilingWork::I8Tensor, 32, 80},
};

std::string cpu_level(std::int64_t bytes, std::int64_t cores, const CpuCaches& caches) {
  const std::int64_t last = std::max({caches.l1, caches.l2, caches.l3});
  // Assumed size of the last cache if the system reports none.
  constexpr std::int64_t kLargestUsual = 32 * kMebibyte;
  if (bytes <= cores * caches.l1 / 2) {
    return "L1";
  }
  if (bytes <= cores * caches.l2 / 2) {
    return "L2";
  }
  if (bytes <= caches.l3 / 2) {
    return "L3";
  }
  return bytes >= 2 * (last > 0 ? last : kLargestUsual) ? "DRAM" : "caches and DRAM";
}

// The first word of the file; empty when the file cannot be read.
std::string first_word(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

// The number of bytes in "32768K" or "32M"; 0 for any other text.
std::int64_t cache_bytes(const std::string& text) {
  std::int64_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(result.ptr, text.data() + text.size());
  return unit == "K" ? number * kKibibyte : unit == "M" ? number * kMebibyte : 0;
}

// Counts the bits of a mask in hexadecimal digits: "ff,000000ff".
int bits_of(const std::string& mask) {
  int bits = 0;
  for (const char digit : mask) {
    unsigned value = 0;
    std::from_chars(&digit, &digit + 1, value, 16);
    bits += std::popcount(value);
  }
  return bits;
}

CopyWork cpu_copy(std::int64_t bytes, std::int64_t cores, const CpuCaches& caches) {
  constexpr std::int64_t kMoved = 32 * kMebibyte; // takes some milliseconds
  CopyWork work;
  work.level = cpu_level(bytes, cores, caches);
  const std::int64_t passes = std::max<std::int64_t>(kMoved / bytes, 2);
  work.launch = {"cpu.cu", CeilingWork::Copy, bytes / kBytesOfElement, passes};
  work.bytes = static_cast<double>(bytes);
  work.moved = work.bytes * static_cast<double>(passes);
  return work;
}

RateWork cpu_rate(const char* kind, CeilingWork work, std::int64_t cores, double lanes) {
  constexpr std::int64_t kRounds = 200'000;
  constexpr double kChains = 8;
  return {kind,
          {"cpu.cu", work, cores, kRounds},
          2 * kChains * lanes * static_cast<double>(kRounds * cores)};
}

CeilingPlan cpu_plan(const tasks::DeviceFacts& facts, const CpuCaches& caches) {
  constexpr std::int64_t kSmallest = 16 * kKibibyte, kUsual = 64 * kMebibyte,
                         kLargest = 512 * kMebibyte;
  CeilingPlan plan;
  plan.nothing = {"cpu.cu", CeilingWork::Nothing, 1, 1};
  const std::int64_t most =
      std::min(std::clamp(4 * caches.l3, kUsual, kLargest), facts.memory_bytes / 2);
  for (std::int64_t bytes = kSmallest; bytes <= std::min(most, kUsual); bytes *= 4) {
    plan.copies.push_back(cpu_copy(bytes, facts.sm_count, caches));
  }
  if (most > kUsual) {
    plan.copies.push_back(cpu_copy(most, facts.sm_count, caches));
  }
  plan.rates.push_back(cpu_rate("f32", CeilingWork::F32, facts.sm_count, 8));
  plan.rates.push_back(cpu_rate("f64", CeilingWork::F64, facts.sm_count, 4));
  for (const TensorKind& tensor : kTensorKinds) {
    plan.no_rate[tensor.kind] = "the cpu device has no tensor cores";
  }
  return plan;
}

CopyWork gpu_copy(std::int64_t bytes, std::int64_t l2_bytes) {
  constexpr std::int64_t kMoved = 512 * kMebibyte;
  CopyWork work;
  work.warm = bytes < 4 * l2_bytes;
  work.level = !work.warm ? "DRAM" : bytes <= l2_bytes / 2 ? "L2" : "L2 and DRAM";
  const std::int64_t passes = work.warm ? std::max<std::int64_t>(kMoved / bytes, 1) : 1;
  work.launch = {"gpu.cu", CeilingWork::Copy, bytes / kBytesOfElement, passes};
  work.bytes = static_cast<double>(bytes);
  work.moved = work.bytes * static_cast<double>(passes);
  return work;
}

// As many threads as in the plan of kernels/gpu.cu.
std::int64_t gpu_threads(const tasks::DeviceFacts& facts) {
  constexpr std::int64_t kBlock = 256;
  const std::int64_t blocks = facts.max_threads_per_sm > 0 ? facts.max_threads_per_sm / kBlock : 8;
  return facts.sm_count * blocks * kBlock;
}

RateWork gpu_rate(const char* kind, CeilingWork work, std::int64_t rounds,
                  const tasks::DeviceFacts& facts) {
  constexpr double kChains = 8;
  const std::int64_t threads = gpu_threads(facts);
  return {
      kind, {"gpu.cu", work, threads, rounds}, 2 * kChains * static_cast<double>(rounds * threads)};
}

// One wgmma instruction computes 64 x 256 sums. Each round, two warpgroups execute one instruction
// each.
RateWork wgmma_rate(const TensorKind& tensor, const tasks::DeviceFacts& facts) {
  constexpr std::int64_t kRounds = 512;
  constexpr double kOperations = 2.0 * 64 * 256 * 2;
  return {tensor.kind,
          {"tensor_wgmma.cu", tensor.work, facts.sm_count * 256, kRounds},
          kOperations * tensor.depth * static_cast<double>(kRounds * facts.sm_count)};
}

// One mma.sync instruction computes 16 x 8 sums. Each round, 32 warps per multiprocessor execute
// eight instructions each.
RateWork mma_rate(const TensorKind& tensor, const tasks::DeviceFacts& facts) {
  constexpr std::int64_t kRounds = 256;
  constexpr double kOperations = 2.0 * 16 * 8 * 32 * 8;
  return {tensor.kind,
          {"tensor_mma.cu", tensor.work, facts.sm_count * 1024, kRounds},
          kOperations * tensor.depth * static_cast<double>(kRounds * facts.sm_count)};
}

std::string why_no_tensor_rate(const TensorKind& tensor, const std::string& architecture) {
  const int number = tasks::compute_capability(architecture);
  if (number == 0) {
    return fmt::format("measured on NVIDIA's GPUs only, and this one is '{}'", architecture);
  }
  if (number < tensor.least_arch) {
    return fmt::format("measured from sm_{} on, and this GPU is {}", tensor.least_arch,
                       architecture);
  }
  if (number == 90 && architecture != "sm_90a") {
    return fmt::format("warpgroup instructions need sm_90a, and code is compiled for {}",
                       architecture);
  }
  constexpr int kFirstTcgen05 = 100, kFirstWithout = 120;
  if (number >= kFirstTcgen05 && number < kFirstWithout) {
    return fmt::format("{} has faster tensor instructions (tcgen05), which are not measured",
                       architecture);
  }
  return {};
}

CeilingPlan gpu_plan(const tasks::DeviceFacts& facts) {
  constexpr std::int64_t kSmallest = kMebibyte, kLargest = kKibibyte * kMebibyte,
                         kLeastDram = 256 * kMebibyte;
  CeilingPlan plan;
  plan.nothing = {"gpu.cu", CeilingWork::Nothing, 1, 1};
  // If the cache size is unknown, no level can be told, and small sets would measure launch
  // overhead.
  const std::int64_t smallest = facts.l2_bytes > 0 ? kSmallest : kLeastDram;
  for (std::int64_t bytes = smallest; bytes <= std::min(kLargest, facts.memory_bytes / 2);
       bytes *= 2) {
    plan.copies.push_back(gpu_copy(bytes, facts.l2_bytes));
  }
  plan.rates.push_back(gpu_rate("f32", CeilingWork::F32, 1536, facts));
  plan.rates.push_back(gpu_rate("f64", CeilingWork::F64, 512, facts));
  for (const TensorKind& tensor : kTensorKinds) {
    if (std::string why = why_no_tensor_rate(tensor, facts.architecture); !why.empty()) {
      plan.no_rate[tensor.kind] = std::move(why);
    } else {
      plan.rates.push_back(facts.architecture == "sm_90a" ? wgmma_rate(tensor, facts)
                                                          : mma_rate(tensor, facts));
    }
  }
  return plan;
}

} // namespace

// Reads /sys, because sysconf(3) counts more than the cores share on some processors.
CpuCaches cpu_caches(std::int64_t cores) {
  CpuCaches caches;
  const std::filesystem::path folder = "/sys/devices/system/cpu/cpu0/cache";
  for (int index = 0;; ++index) {
    const std::filesystem::path cache = folder / fmt::format("index{}", index);
    const std::string level = first_word(cache / "level");
    if (level.empty()) {
      return caches;
    }
    if (first_word(cache / "type") == "Instruction") {
      continue;
    }
    const std::int64_t bytes = cache_bytes(first_word(cache / "size"));
    if (level == "1" || level == "2") {
      (level == "1" ? caches.l1 : caches.l2) = bytes;
    } else { // several L3 caches if the cores do not all share one
      const std::int64_t sharing = std::max(bits_of(first_word(cache / "shared_cpu_map")), 1);
      caches.l3 = bytes * ((cores + sharing - 1) / sharing);
    }
  }
}

CeilingPlan ceiling_plan(std::string_view device_kind, const tasks::DeviceFacts& facts,
                         const CpuCaches& caches) {
  return device_kind == "cpu" ? cpu_plan(facts, caches) : gpu_plan(facts);
}

std::string_view ceiling_kernel(std::string_view file) {
  for (const EmbeddedFile& embedded : ceilings::embedded_files()) {
    if (embedded.path == file) {
      return embedded.text;
    }
  }
  throw Error(fmt::format("no kernel file '{}' for measuring ceilings", file));
}

tasks::Task ceiling_task(const std::vector<CeilingLaunch>& launches) {
  tasks::Task task;
  task.name = task.title = "ceilings";
  task.axes = {{"work", "what a launch does"},
               {"elements", "floats of the output"},
               {"passes", "how often a launch does it"}};
  tasks::TensorSpec output;
  output.name = "to";
  output.role = tasks::Role::Output;
  output.shape = {tasks::Expression::parse("elements")};
  task.tensors.push_back(std::move(output));
  for (const CeilingLaunch& launch : launches) {
    tasks::Shape shape;
    shape.id = fmt::format("tiny/{}", task.shapes.size());
    shape.axes = {{"work", static_cast<std::int64_t>(launch.work)},
                  {"elements", launch.elements},
                  {"passes", launch.passes}};
    task.shapes.push_back(std::move(shape));
  }
  return task;
}

} // namespace winnow::evaluators
