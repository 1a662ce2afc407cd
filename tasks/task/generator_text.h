#pragma once

#include "tasks/task/task.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// A number of a generator. Without a key it does not exist, without a fallback task.toml must have
/// it, and without words nobody is told of it.
struct GeneratorParameter {
  std::string_view key;
  std::optional<NumberRange> fallback;
  std::string_view words = {};
};

struct GeneratorRow {
  GeneratorSpec::Kind kind;
  std::string_view enumerator; ///< "HeavyTail"
  std::string_view name;       ///< "heavy_tail", as task.toml has it
  std::string_view words;      ///< what the elements are
  GeneratorParameter a = {"", 0.0}, b = {"", 0.0}, c = {"", 0.0};
};

const std::vector<GeneratorRow>& generator_rows(); ///< in the order of the enumerators
const GeneratorRow& row_of(GeneratorSpec::Kind kind);

/// How the elements of an input are distributed, and which ranges vary, for people and models:
/// "normally distributed, mean from -1 to 1, standard deviation from 0.5 to 2, drawn anew for each
/// launch".
std::string distribution_text(const TensorSpec& tensor);

} // namespace winnow::tasks
