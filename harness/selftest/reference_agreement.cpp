#include "harness/selftest/reference_agreement.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "evaluators/evaluation/reference_check.h"
#include "evaluators/host/devices.h"
#include "evaluators/torch/python.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

using State = ReferenceAgreement::State;

// Limit for results that both sides computed in double precision: the order of additions may change
// a result by so much, relative to the size of the terms (reported by reference.cu) plus the
// result.
constexpr double kDoubleLimit = 1e-10;

bool is_close(double left, double right, double magnitude) {
  if (std::isnan(left) || std::isnan(right)) {
    return std::isnan(left) && std::isnan(right);
  }
  const double size = std::fabs(magnitude) + std::fabs(right);
  return left == right ||
         std::fabs(left - right) <= kDoubleLimit * size + std::numeric_limits<double>::min();
}

std::string float64_difference(const ReferenceSample& sample,
                               const evaluators::ReferenceAnswer& answer) {
  for (const auto& [name, expected] : sample.outputs) {
    const tasks::HostTensor& got = answer.outputs.at(name);
    const auto magnitude = answer.magnitudes.find(name);
    for (std::int64_t i = 0; i < expected.count(); ++i) {
      const double size = magnitude == answer.magnitudes.end() ? 0 : magnitude->second.at(i);
      if (!is_close(got.at(i), expected.at(i), size)) {
        return fmt::format(
            "element {} of '{}' is {:.17g} in reference.cu and {:.17g} in reference.py", i, name,
            got.at(i), expected.at(i));
      }
    }
  }
  return "";
}

/// "FOLDER/reference.py:9", the line of Model.forward().
std::string place_of_forward(const tasks::Task& task) {
  const std::string file = (task.folder / "reference.py").string();
  const std::vector<std::string_view> lines = split_lines(task.reference_python);
  const auto found = std::find_if(lines.begin(), lines.end(), [](std::string_view line) {
    return trim(line).starts_with("def forward(");
  });
  return found == lines.end() ? file : fmt::format("{}:{}", file, found - lines.begin() + 1);
}

ReferenceAgreement compare_all(const tasks::Task& task, const ReferenceSamples& samples,
                               const std::string& source, evaluators::Selftest& selftest) {
  ReferenceAgreement agreement;
  agreement.source = source;
  agreement.notes = samples.notes;
  for (const ReferenceSample& sample : samples.samples) {
    ++agreement.shapes;
    agreement.in_float64 += sample.float64 ? 1 : 0;
    const std::string differs = difference(task, sample, selftest);
    if (!differs.empty() && agreement.detail.empty()) {
      agreement.detail =
          fmt::format("{}: {}: {}", place_of_forward(task), sample.shape.id, differs);
    }
  }
  if (agreement.shapes == 0) {
    agreement.detail = "no tiny shape could be compared";
  } else {
    agreement.state = agreement.detail.empty() ? State::Agrees : State::Differs;
  }
  return agreement;
}

} // namespace

std::string_view to_string(State state) {
  switch (state) {
  case State::Agrees:
    return "agrees";
  case State::Differs:
    return "differs";
  case State::Unchecked:
    return "unchecked";
  }
  return "unknown_state";
}

std::string difference(const tasks::Task& task, const ReferenceSample& sample,
                       evaluators::Selftest& selftest) {
  if (sample.float64) {
    return float64_difference(sample, selftest.reference(sample.shape, sample.seed));
  }
  const evaluators::JudgeReply reply = selftest.judge(sample.shape, sample.seed, sample.outputs);
  if (reply.verdict == tasks::Verdict::Correct) {
    return "";
  }
  return reply.mismatch ? "reference.py: " + evaluators::mismatch_text(*reply.mismatch)
                        : fmt::format("the answer of reference.py to {} is {}", task.name,
                                      to_string(reply.verdict));
}

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
    error = process.run(kTorchEager, float64).error;
    if (!error.empty()) {
      continue;
    }
    if (auto outputs = take_outputs(task, shape, process, float64, error)) {
      return ReferenceSample{shape, seed, float64, std::move(*outputs)};
    }
  }
  return std::nullopt;
}

/// Runs reference.py with PyTorch on the CPU at every tiny shape: in double precision if the module
/// allows it, otherwise in its own precision. Throws Error with what to install if PyTorch is
/// missing.
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

ReferenceSamples torch_samples(const tasks::Task& task, const AgreementOptions& options) {
  TorchProcessOptions process;
  process.python = evaluators::find_python(options.python);
  process.isolation = options.isolation;
  process.timeout = options.timeout;
  return run_torch(task, process, options.seed);
}

} // namespace

ReferenceAgreement check_reference(const tasks::Task& task, evaluators::Selftest& selftest,
                                   const AgreementOptions& options) {
  std::vector<std::string> notes;
  try {
    const ReferenceSamples torch = torch_samples(task, options);
    if (!torch.samples.empty()) {
      return compare_all(task, torch, "torch " + torch.torch, selftest);
    }
    notes = torch.notes;
  } catch (const Error& error) { // PyTorch is not installed
    notes.push_back(error.what());
  }
  const auto golden = read_golden(task);
  if (!golden) {
    ReferenceAgreement agreement;
    agreement.notes = notes;
    agreement.detail =
        "there is neither PyTorch nor golden.json: install PyTorch, or write golden.json "
        "on a machine with PyTorch: " +
        golden_command(task);
    return agreement;
  }
  return compare_all(task, *golden, fmt::format("golden.json (torch {})", golden->torch), selftest);
}

ReferenceAgreement write_golden(const tasks::Task& task, evaluators::Selftest& selftest,
                                const AgreementOptions& options) {
  const ReferenceSamples torch = torch_samples(task, options);
  const ReferenceAgreement agreement = compare_all(task, torch, "torch " + torch.torch, selftest);
  if (agreement.state != State::Agrees) {
    throw Error(fmt::format("{}: golden.json is not written: {}{}", task.name, agreement.detail,
                            torch.notes.empty() ? "" : " (" + join(torch.notes, "; ") + ")"),
                "mend reference.cu or reference.py, or use another version of PyTorch");
  }
  const std::string text = golden_text(torch);
  if (parse_golden(task, text, golden_file(task).string()).samples.empty()) {
    throw Error(task.name + ": golden.json is not written: every tiny shape has too many outputs",
                "add a tiny shape with fewer outputs to task.toml");
  }
  write_file_atomic(golden_file(task), text);
  return agreement;
}

} // namespace winnow::harness
