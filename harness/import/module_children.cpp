#include "harness/import/module_children.h"

#include "base/files.h"
#include "base/json_dump.h"
#include "profiling/host_info.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

constexpr double kGib = 1U << 30U;
constexpr std::uint64_t kNoTensorsBytes = 4096;
// A study in double precision with its error scale holds some eight times the tensors.
constexpr double kCopies = 8;
constexpr double kOfPyTorch = kGib;           // of a context on a GPU, and of PyTorch on the CPU
constexpr double kOnTheHostOfAGpu = 4 * kGib; // the libraries of CUDA, and surveys on the CPU
constexpr double kFactsOfCuda = 4;            // DeviceFacts has a quarter of a GPU's memory

} // namespace

ModuleChildren::ModuleChildren(const evaluators::DeviceReport& device,
                               const evaluators::MachineOptions& machine, std::size_t count)
    : lock_(device), sandbox_(process::Sandbox::best(machine.require_isolation)),
      no_tensors_(kNoTensorsBytes) {
  const auto cache = machine.cache.empty() ? cache_directory() : machine.cache;
  for (std::size_t i = 0; i < count; ++i) {
    children_.push_back(
        std::make_unique<evaluators::TorchChild>(sandbox_, no_tensors_, device, cache));
  }
  children_.front()->start();
}

std::vector<Describe> ModuleChildren::describers(std::chrono::milliseconds timeout,
                                                 const std::function<bool()>& cancelled) {
  std::vector<Describe> found;
  for (const auto& child : children_) {
    found.emplace_back([child = child.get(), timeout, cancelled](const nlohmann::json& request) {
      return child->ask(json_line(request) + "\n", timeout, cancelled);
    });
  }
  return found;
}

std::size_t suitable_children(const evaluators::DeviceReport& device, std::uint64_t memory_bytes) {
  const profiling::HostInfo& host = profiling::host_info();
  const double tensors = kCopies * static_cast<double>(memory_bytes) + kOfPyTorch;
  double most = host.cores;
  if (device.kind == "cpu") {
    most = std::min(most, host.memory_gib * kGib / tensors);
  } else {
    most = std::min(most, host.memory_gib * kGib / kOnTheHostOfAGpu);
    most = std::min(most, kFactsOfCuda * static_cast<double>(device.facts.memory_bytes) / tensors);
  }
  return static_cast<std::size_t>(std::max(most, 1.0));
}

} // namespace winnow::harness
