#include "base/text.h"
#include "tasks/mutants/mutants.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

/// In the order of reports.
constexpr std::array<std::pair<MutantKind, std::string_view>, 23> kNames{{
    {MutantKind::Zeros, "zeros"},
    {MutantKind::Identity, "identity"},
    {MutantKind::Mean, "mean"},
    {MutantKind::RoundedTf32, "inputs as tf32"},
    {MutantKind::RoundedBf16, "inputs as bf16"},
    {MutantKind::RoundedE4M3, "inputs as f8e4m3"},
    {MutantKind::RoundedE5M2, "inputs as f8e5m2"},
    {MutantKind::LeftOut, "term left out"},
    {MutantKind::LeftOutScaled, "term left out, scaled"},
    {MutantKind::Truncated, "truncated"},
    {MutantKind::BlockSkipped, "block skipped"},
    {MutantKind::EarlyStop, "early stop"},
    {MutantKind::FixedCapacity, "fixed capacity"},
    {MutantKind::Stale, "stale output"},
    {MutantKind::Unwritten, "unwritten tail"},
    {MutantKind::HardCodedScalar, "hard-coded scalar"},
    {MutantKind::HardCodedShape, "hard-coded shape"},
    {MutantKind::EdgeOffByOne, "edge off by one"},
    {MutantKind::Transposed, "transposed"},
    {MutantKind::BatchMean, "batch mean"},
    {MutantKind::OperandsTf32, "operands in tf32"},
    {MutantKind::OperandsBf16, "operands in bf16"},
    {MutantKind::HalfOfInputs, "half of the inputs"},
}};

} // namespace

std::string_view to_string(MutantKind kind) {
  const auto known = std::find_if(kNames.begin(), kNames.end(),
                                  [kind](const auto& name) { return name.first == kind; });
  return known == kNames.end() ? "unknown_mutant" : known->second;
}

const std::vector<MutantKind>& all_mutant_kinds() {
  static const auto kinds =
      each<MutantKind>(kNames, &std::pair<MutantKind, std::string_view>::first);
  return kinds;
}

std::string to_string(const Mutant& mutant) {
  std::string text(to_string(mutant.kind));
  if (mutant.name.empty()) {
    return text;
  }
  text += ": " + mutant.name;
  const bool along = mutant.kind == MutantKind::Truncated ||
                     mutant.kind == MutantKind::EdgeOffByOne ||
                     (mutant.kind == MutantKind::HardCodedShape && mutant.runs_reference);
  return along ? fmt::format("{} along axis {}", text, mutant.axis) : text;
}

} // namespace winnow::tasks
