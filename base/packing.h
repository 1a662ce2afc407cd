#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace winnow {

/// The bytes as a gzip file. Equal bytes give equal files.
std::string gzip(std::string_view bytes);

/// RFC 4648, with padding and without line ends.
std::string base64(std::string_view bytes);
/// The bytes of such a text. nullopt: the text is malformed.
std::optional<std::string> decode_base64(std::string_view text);

} // namespace winnow
