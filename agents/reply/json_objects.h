#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace winnow::agents {

struct JsonObjects {
  std::vector<nlohmann::json> objects; ///< the outermost objects of the text, in order
  bool cut = false;                    ///< the text is an object whose end is missing
};

/// Finds JSON objects between other text. Line ends inside of strings are forgiven. Of a text with
/// very many braces that begin no object, only the first ones are tried: the time stays in
/// proportion to the length of the text.
JsonObjects find_json_objects(std::string_view text);

/// The kernel file behind "kernel_file" in a text that is almost JSON: with a comma too many,
/// comments, other quotes, or without its last brace. Empty: there is none, or it has no end.
std::string kernel_file_like_json(std::string_view text);

/// The kernel file that an object holds: its "kernel_file", or the only text in it that has a plan
/// and device code. Empty: there is none.
std::string kernel_file_in(const nlohmann::json& object);

} // namespace winnow::agents
