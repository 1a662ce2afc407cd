#pragma once

#include <string>
#include <vector>

namespace winnow::agents {

/// A name and what must be equal for names to be folded into one pattern.
struct NameOfKind {
  std::string name; ///< letters, digits and '_'
  std::string kind;
};

/// Folds names of the same kind into patterns: "layer{1..4}_bn{1,2}_{weight,bias}". A pattern
/// stands for every combination of the texts in its braces, {1..4} for the numbers from 1 to 4. So
/// all patterns together stand for exactly the given names, each once. The patterns are in the
/// order of their first names.
std::vector<NameOfKind> folded(const std::vector<NameOfKind>& names);

} // namespace winnow::agents
