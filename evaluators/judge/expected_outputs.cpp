#include "evaluators/judge/expected_outputs.h"

#include "evaluators/judge/pattern.h"

#include <algorithm>
#include <vector>

namespace winnow::evaluators {
namespace {

std::span<const double> as_doubles(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const double*>(bytes.data()), bytes.size() / sizeof(double)};
}

// Maps an index in the pieces to an index in the whole output.
std::int64_t index_in_output(std::int64_t index, const std::vector<Piece>& pieces) {
  auto left = static_cast<std::uint64_t>(index);
  for (const Piece& piece : pieces) {
    if (left < piece.count) {
      return static_cast<std::int64_t>(piece.first + left);
    }
    left -= piece.count;
  }
  return index;
}

/// Of an output or its magnitude; empty: all of it.
std::vector<Piece> pieces_of(const std::string& answer, const std::vector<JudgedTensor>& judged) {
  for (const JudgedTensor& tensor : judged) {
    const std::string& output = tensor.slice.tensor;
    if (answer == output || answer == output + std::string(tasks::kMagnitudeSuffix)) {
      return tensor.pieces;
    }
  }
  return {};
}

} // namespace

std::optional<DeviceFault> ExpectedOutputs::run(bool verify) {
  runner_.poison(0); // an output that the reference does not write is NaN
  auto fault = runner_.run();
  return fault || !verify ? fault : runner_.verify();
}

void ExpectedOutputs::give_inputs(const ArenaView& exchange,
                                  const std::vector<ArenaSlice>& inputs) {
  runner_.poison(0);
  for (const ArenaSlice& input : inputs) {
    runner_.download(input.tensor, exchange.slice(input.offset, input.bytes));
  }
}

void ExpectedOutputs::take_answers(const ArenaView& exchange,
                                   const std::vector<ArenaSlice>& answers,
                                   const std::vector<JudgedTensor>& judged) {
  for (const ArenaSlice& answer : answers) {
    const std::span<const std::byte> bytes = exchange.slice(answer.offset, answer.bytes);
    const auto pieces = pieces_of(answer.tensor, judged);
    if (pieces.empty()) {
      runner_.upload(answer.tensor, bytes);
    } else {
      runner_.upload(answer.tensor, pieces, bytes);
    }
  }
}

ComparisonResult ExpectedOutputs::compare(const Comparison& comparison, bool explain,
                                          std::vector<Piece> pieces) {
  if (pieces.empty()) {
    const auto all = static_cast<std::uint64_t>(runner_.buffer(comparison.tensor).count);
    pieces = {{0, all}};
  }
  std::string magnitude = comparison.tensor + std::string(tasks::kMagnitudeSuffix);
  if (!has_output(magnitude)) {
    magnitude.clear(); // the output is compared exactly
  }
  const ErrorLimits limits = limits_of(comparison.model, comparison.dtype);
  const auto totals = runner_.compare(comparison.got, pieces, comparison.dtype, comparison.tensor,
                                      magnitude, limits);
  if (totals && (is_within(*totals, limits) || !explain)) {
    ComparisonResult result;
    result.verdict = is_within(*totals, limits) ? tasks::Verdict::Correct : tasks::Verdict::Wrong;
    result.ratios = error_ratios(*totals, limits);
    return result;
  }
  return compare_on_host(comparison, pieces, magnitude);
}

// The device found the output wrong; to explain the errors, the host must look at every element.
ComparisonResult ExpectedOutputs::compare_on_host(Comparison comparison,
                                                  const std::vector<Piece>& pieces,
                                                  const std::string& magnitude) {
  const std::vector<std::byte> expected = downloaded(comparison.tensor, pieces);
  std::vector<std::byte> magnitudes;
  if (magnitude.empty()) {
    comparison.expected_exact = expected;
  } else {
    magnitudes = downloaded(magnitude, pieces);
    comparison.expected = as_doubles(expected);
    comparison.magnitude = as_doubles(magnitudes);
  }
  const std::vector<std::int64_t> shape = comparison.shape;
  const bool is_whole = pieces.size() == 1;
  if (!is_whole) {
    comparison.shape = {
        static_cast<std::int64_t>(comparison.got.size() / tasks::size_bytes(comparison.dtype))};
  }
  ComparisonResult result = evaluators::compare(comparison);
  if (result.mismatch && !is_whole) {
    tasks::Mismatch& mismatch = *result.mismatch;
    mismatch.first_index = index_in_output(mismatch.first_index, pieces);
    mismatch.first_position = position_text(mismatch.first_index, shape);
  }
  return result;
}

std::vector<std::byte> ExpectedOutputs::downloaded(const std::string& output,
                                                   const std::vector<Piece>& pieces) {
  std::uint64_t elements = 0;
  for (const Piece& piece : pieces) {
    elements += piece.count;
  }
  std::vector<std::byte> bytes(elements * tasks::size_bytes(runner_.buffer(output).dtype));
  runner_.download(output, pieces, bytes);
  return bytes;
}

bool ExpectedOutputs::has_output(const std::string& name) const {
  return std::any_of(plan_.buffers.begin(), plan_.buffers.end(),
                     [&name](const tasks::Buffer& buffer) { return buffer.name == name; });
}

} // namespace winnow::evaluators
