#pragma once

#include <string>
#include <string_view>

namespace winnow {

/// The bytes as a gzip file. Equal bytes give equal files.
std::string gzip(std::string_view bytes);

/// RFC 4648, with padding and without line ends.
std::string base64(std::string_view bytes);

} // namespace winnow
