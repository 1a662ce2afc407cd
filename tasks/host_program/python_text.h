#pragma once

#include <string>
#include <vector>

namespace winnow::tasks {

/// A string literal on one line.
std::string python_quoted(const std::string& text);
/// A string literal as Python reads it: raw, so that code stays as it is, if Python allows that.
std::string python_literal(const std::string& text);
/// The name, or a similar one that is an identifier and has no meaning in an exported file.
std::string python_name(const std::string& name);
/// "(a, b)", "(a,)", "()"
std::string python_tuple(const std::vector<std::string>& values);

} // namespace winnow::tasks
