#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace winnow {

/// SHA-256 of the bytes, as 64 lower-case hex digits.
std::string sha256_hex(std::string_view bytes);

/// The 32 bytes of SHA-256 of the bytes.
std::string sha256_bytes(std::string_view bytes);

/// HMAC-SHA-256 of the text, as 64 lower-case hex digits.
std::string hmac_sha256_hex(std::string_view key, std::string_view text);

/// The first eight bytes of SHA-256 over the seed and the text. The result reveals neither the seed
/// nor the result for another text.
std::uint64_t derived_seed(std::uint64_t seed, std::string_view what);

} // namespace winnow
