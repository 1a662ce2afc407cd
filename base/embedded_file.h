#pragma once

#include <string_view>
#include <vector>

namespace winnow {

/// A text file compiled into the program by winnow_embed() (cmake/Targets.cmake).
struct EmbeddedFile {
  std::string_view path; ///< relative to the embedding's root
  std::string_view text;
};

} // namespace winnow
