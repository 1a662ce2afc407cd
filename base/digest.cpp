#include "base/digest.h"

#include "base/error.h"

#include <array>
#include <memory>

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace winnow {
namespace {

constexpr std::size_t kSha256Bytes = 32;

/// Kept for each thread, because EVP_Digest() looks up the algorithm again for each text.
struct Sha256 {
  std::unique_ptr<EVP_MD, decltype(&EVP_MD_free)> algorithm{
      EVP_MD_fetch(nullptr, "SHA256", nullptr), EVP_MD_free};
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(),
                                                                  EVP_MD_CTX_free};
};

std::array<unsigned char, kSha256Bytes> sha256(std::string_view bytes) {
  thread_local const Sha256 sha;
  std::array<unsigned char, kSha256Bytes> digest{};
  if (EVP_DigestInit_ex2(sha.context.get(), sha.algorithm.get(), nullptr) != 1 ||
      EVP_DigestUpdate(sha.context.get(), bytes.data(), bytes.size()) != 1 ||
      EVP_DigestFinal_ex(sha.context.get(), digest.data(), nullptr) != 1) {
    throw Error("OpenSSL cannot compute a SHA-256 digest");
  }
  return digest;
}

std::string hex(const std::array<unsigned char, kSha256Bytes>& digest) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  text.reserve(kSha256Bytes * 2);
  for (const unsigned char byte : digest) {
    text += kHex[byte >> 4U];
    text += kHex[byte & 15U];
  }
  return text;
}

} // namespace

std::string sha256_hex(std::string_view bytes) {
  return hex(sha256(bytes));
}

std::string hmac_sha256_hex(std::string_view key, std::string_view text) {
  std::array<unsigned char, kSha256Bytes> digest{};
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(),
           nullptr) == nullptr) {
    throw Error("OpenSSL cannot compute an HMAC");
  }
  return hex(digest);
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
