// Runs reference.py with PyTorch.
#include "base/files.h"
#include "evaluators/host/devices.h"
#include "harness/selftest/reference_samples.h"

#include <cstring>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

constexpr std::uint64_t kMaxSampleBytes = std::uint64_t{1} << 30U;

/// Reads the outputs in the process's directory. If their sizes do not fit the task, returns
/// nullopt and sets `error`.
std::optional<tasks::HostTensors> take_outputs(const tasks::Task& task, const tasks::Shape& shape,
                                               const TorchProcess& process, bool float64,
                                               std::string& error) {
  tasks::HostTensors outputs;
  for (tasks::TensorSpec tensor : task.tensors) {
    if (tensor.role == tasks::Role::Input) {
      continue;
    }
    if (float64 && tasks::is_floating(tensor.dtype)) {
      tensor.dtype = tasks::DType::F64;
    }
    tasks::HostTensor output = tasks::unset_tensor(tensor, task, shape);
    const std::string bytes = read_file(process.output_file(outputs.size()), kMaxSampleBytes);
    if (bytes.size() != output.bytes.size()) {
      error = fmt::format("output '{}' has {} bytes, expected {}", tensor.name, bytes.size(),
                          output.bytes.size());
      return std::nullopt;
    }
    std::memcpy(output.bytes.data(), bytes.data(), bytes.size());
    outputs.emplace(tensor.name, std::move(output));
  }
  return outputs;
}

std::optional<ReferenceSample> sample_shape(const tasks::Task& task, const tasks::Shape& shape,
                                            std::uint64_t seed, TorchProcess& process,
                                            std::string& error) {
  process.write_inputs(shape, seed);
  for (const bool float64 : {true, false}) { // modules that name a dtype cannot take doubles
    error = process.run(TorchMode::Eager, false, float64).error;
    if (!error.empty()) {
      continue;
    }
    if (auto outputs = take_outputs(task, shape, process, float64, error)) {
      return ReferenceSample{shape, seed, float64, std::move(*outputs)};
    }
  }
  return std::nullopt;
}

} // namespace

ReferenceSamples run_torch(const tasks::Task& task, TorchProcessOptions options,
                           std::uint64_t seed) {
  const TemporaryDirectory directory("selftest");
  options.device = evaluators::select_device("cpu");
  TorchProcess process(task, directory.path(), options);
  process.start();
  ReferenceSamples result{process.version(), {}, {}};
  for (const tasks::Shape& shape : task.shapes_of(tasks::ShapeSet::Tiny, "cpu")) {
    std::string error;
    if (auto sample = sample_shape(task, shape, seed, process, error)) {
      result.samples.push_back(std::move(*sample));
    } else {
      result.notes.push_back(shape.id + ": " + error);
    }
  }
  return result;
}

} // namespace winnow::harness
