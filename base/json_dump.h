#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow {

/// The value on one line, without a line end. U+FFFD replaces invalid UTF-8, because JSON must be
/// valid UTF-8.
std::string json_line(const nlohmann::json& value);

/// The value indented by two spaces, with a line end.
std::string json_document(const nlohmann::json& value);

} // namespace winnow
