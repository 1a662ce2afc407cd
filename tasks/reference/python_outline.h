#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// What a function of a Python file takes and returns, as far as its text says so.
struct PythonFunction {
  int line = 0;                        ///< of `def`
  std::vector<std::string> parameters; ///< without self
  std::size_t required = 0;            ///< parameters without a default
  bool takes_any = false;              ///< has *args
  int return_line = 0;                 ///< of the last `return` of its own block; 0: none
  /// The number of values that this `return` lists; nullopt: it has an expression that is no list,
  /// which may be one value or several.
  std::optional<std::size_t> returned;
};

/// The function of this name in the class, or of the module with an empty `type`. nullopt: there is
/// none.
std::optional<PythonFunction> find_python_function(std::string_view text, std::string_view type,
                                                   std::string_view name);

} // namespace winnow::tasks
