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

/// Applies edits that do not overlap, in any order. Line ends that an edit removes are put back
/// behind its text, so that every line keeps its number.
std::string apply_edits(std::string_view source, std::vector<SourceEdit> edits);

} // namespace winnow::evaluators
