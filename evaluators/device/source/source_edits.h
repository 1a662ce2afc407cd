#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// A replacement of bytes [begin, end) of the source.
struct SourceEdit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

/// Applies edits, in any order; edits must not overlap. If an edit removes line ends, they are
/// added behind its text, so that later lines keep their numbers.
std::string apply_edits(std::string_view source, std::vector<SourceEdit> edits);

} // namespace winnow::evaluators
