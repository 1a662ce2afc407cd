#pragma once

#include "tasks/task/task.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// NARROW(name, expression) in reference.cu marks an intermediate that a kernel could round to a
/// coarser format. The reference itself computes the expression as it stands. The selftest rounds
/// all intermediates of one name, and the judge must reject the answers.
struct NarrowMark {
  std::string name;
  std::size_t begin = 0; ///< byte range of "NARROW(name,"
  std::size_t end = 0;
};

/// The marks of device code, in order. Throws UsageError with `file` and the line of a mark that is
/// not well formed.
std::vector<NarrowMark> narrow_marks(std::string_view source, const std::string& file);
/// The names of the marks, each once, in order.
std::vector<std::string> narrow_names(const std::vector<NarrowMark>& marks);

/// The intermediates of one name, rounded to a format.
struct Narrowing {
  std::string name;
  Precision format = Precision::F16;
  bool is_allowed = false; ///< task.toml allows it: the judge must accept it
};
/// "product as f16"
std::string to_string(const Narrowing& narrowing);

/// For each name of `task`: the formats next coarser than Tolerance::accumulate or, if the task
/// allows a format for the name, this format and those next coarser than it.
std::vector<Narrowing> narrowings_of(const Task& task);

/// The format that a kernel of this precision would narrow to: none, one, or two of which neither
/// is finer (more mantissa or more range).
std::vector<Precision> next_coarser(Precision precision);

/// Device code without its marks: each expression stands in parentheses, in its old place.
std::string without_marks(std::string_view source, const std::vector<NarrowMark>& marks);
/// The text of reference.cu without its marks.
std::string plain_reference(const Task& task);
/// Device code whose marks call `function`(index in narrow_names(), expression).
std::string with_calls(std::string_view source, const std::vector<NarrowMark>& marks,
                       const std::string& function);

/// "each weight may be rounded to f16"; several are joined by ", "; empty: the task allows none.
std::string allowed_text(const Tolerance& tolerance);

} // namespace winnow::tasks
