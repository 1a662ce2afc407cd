#include "harness/selftest/reference_agreement.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "evaluators/evaluation/reference_check.h"
#include "evaluators/torch/python.h"
#include "harness/baseline/torch_process.h"

#include <algorithm>
#include <cmath>
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
