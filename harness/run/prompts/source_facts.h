#pragma once

#include <map>
#include <string>
#include <string_view>

namespace winnow::harness {

/// What a kernel file tells before it is compiled, as numbers by name: how long it is, how many
/// launches and parameters its plan has, and how often it uses each class of operations
/// ("barriers", "shared arrays", "vector types", ...). Comments, names and white space change
/// nothing. Only the plan's numbers are missing if the file has no plan that can be parsed.
std::map<std::string, double> source_facts(std::string_view text);

} // namespace winnow::harness
