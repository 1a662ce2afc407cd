#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::harness {

/// What Winnow knows of a module that no import can compute (tasks/import/kernelbench.toml).
struct KnownModule {
  std::optional<std::string> mode; ///< in which the module is no random function
  std::string more_source;         ///< goes behind the file for its description; may be empty
  std::vector<std::string> flags;
};

/// Found by the text of the class Model, so that other numbers and sizes do not matter.
KnownModule known_module(std::string_view source);

/// The class Model of a file, without white space at the end; empty if there is none.
std::string_view model_class(std::string_view source);

} // namespace winnow::harness
