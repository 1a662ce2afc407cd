#include "base/digest.h"

#include "base/error.h"

#include <array>

#include <openssl/evp.h>

namespace winnow {
namespace {

constexpr std::size_t kSha256Bytes = 32;

std::array<unsigned char, kSha256Bytes> sha256(std::string_view bytes) {
  std::array<unsigned char, kSha256Bytes> digest{};
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    throw Error("EVP_Digest(sha256) failed");
  }
  return digest;
}

} // namespace

std::string sha256_hex(std::string_view bytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  text.reserve(kSha256Bytes * 2);
  for (const unsigned char byte : sha256(bytes)) {
    text += kHex[byte >> 4U];
    text += kHex[byte & 15U];
  }
  return text;
}

std::string sha256_bytes(std::string_view bytes) {
  const auto digest = sha256(bytes);
  return {digest.begin(), digest.end()};
}

std::uint64_t derived_seed(std::uint64_t seed, std::string_view what) {
  const auto digest = sha256(std::to_string(seed) + " " + std::string(what));
  std::uint64_t derived = 0;
  for (std::size_t i = 0; i < sizeof(derived); ++i) {
    derived = derived << 8U | digest[i];
  }
  return derived;
}

} // namespace winnow
