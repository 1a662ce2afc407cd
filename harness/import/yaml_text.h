#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// The first document of a YAML text from an untrusted source, as JSON: plain scalars that read as
/// null, true, false or a number are such, all others are strings. Throws UsageError, which begins
/// with "FILE:LINE:COLUMN", for what is no YAML, for keys that are no scalars, and for documents
/// that are deep or large, also through aliases.
nlohmann::json yaml_as_json(const std::string& text, const std::string& file);

} // namespace winnow::harness
