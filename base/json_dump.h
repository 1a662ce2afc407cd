#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow {

/// On one line, without its end. What is not UTF-8 is replaced, as JSON can hold nothing else.
std::string json_line(const nlohmann::json& value);

/// Indented by two spaces, with a line's end.
std::string json_document(const nlohmann::json& value);

} // namespace winnow
