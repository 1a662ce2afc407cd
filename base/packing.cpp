#include "base/packing.h"

#include "base/error.h"

#include <cstdint>
#include <limits>

#include <openssl/evp.h>
#include <zlib.h>

namespace winnow {

std::string gzip(std::string_view bytes) {
  constexpr int kGzipWindow = 15 + 16; // 16: with the header of a gzip file
  constexpr int kMemory = 8;
  z_stream stream{};
  if (bytes.size() > std::numeric_limits<uInt>::max() ||
      deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw Error("zlib cannot compress " + std::to_string(bytes.size()) + " bytes");
  }
  std::string packed(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  std::string input(bytes); // zlib takes no constant input
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) {
    throw Error("zlib cannot compress " + std::to_string(bytes.size()) + " bytes");
  }
  return packed;
}

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0'); // EVP_EncodeBlock adds a NUL
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::optional<std::string> decode_base64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  if (text.size() % 4 != 0) {
    return std::nullopt;
  }
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_padding = i + padding >= text.size();
    const std::size_t digit = is_padding ? 0 : kDigits.find(text[i]);
    if (digit == std::string_view::npos) {
      return std::nullopt;
    }
    group = (group << 6U) | static_cast<std::uint32_t>(digit);
    if (i % 4 == 3) {
      for (const unsigned shift : {16U, 8U, 0U}) {
        bytes += static_cast<char>((group >> shift) & 0xFFU);
      }
    }
  }
  bytes.resize(bytes.size() - padding);
  return bytes;
}

} // namespace winnow
