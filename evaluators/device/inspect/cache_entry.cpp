#include "evaluators/device/inspect/cache_entry.h"

#include "base/digest.h"

#include <charconv>
#include <cstdint>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

constexpr std::string_view kEntryMagic = "winnow-cache-entry-1\n";
constexpr std::size_t kSizeDigits = 16;
constexpr std::size_t kDigestDigits = 64;
constexpr std::size_t kFooterBytes = 2 * kSizeDigits + kDigestDigits + kEntryMagic.size();

std::optional<std::uint64_t> hexadecimal(std::string_view digits) {
  std::uint64_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number, 16);
  return error == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

/// The parts by the sizes in the footer.
std::optional<CacheEntry> parts_of(std::string_view bytes) {
  if (bytes.size() < kFooterBytes || !bytes.ends_with(kEntryMagic)) {
    return std::nullopt;
  }
  const std::string_view body = bytes.substr(0, bytes.size() - kFooterBytes);
  const std::string_view footer = bytes.substr(body.size());
  const auto module_bytes = hexadecimal(footer.substr(0, kSizeDigits));
  const auto answer_bytes = hexadecimal(footer.substr(kSizeDigits, kSizeDigits));
  if (!module_bytes || !answer_bytes || *module_bytes > body.size() ||
      *answer_bytes != body.size() - *module_bytes) {
    return std::nullopt;
  }
  return CacheEntry{body.substr(0, *module_bytes), body.substr(*module_bytes)};
}

} // namespace

std::string encode(const CacheEntry& entry) {
  std::string bytes;
  bytes.reserve(entry.module.size() + entry.answer.size() + kFooterBytes);
  bytes.append(entry.module).append(entry.answer);
  const std::string digest = sha256_hex(bytes);
  bytes += fmt::format("{:0{}x}{:0{}x}", entry.module.size(), kSizeDigits, entry.answer.size(),
                       kSizeDigits);
  return bytes.append(digest).append(kEntryMagic);
}

std::optional<CacheEntry> decode_cache_entry(std::string_view bytes) {
  const auto entry = parts_of(bytes);
  return entry && encode(*entry) == bytes ? entry : std::nullopt;
}

std::string_view module_part(std::string_view bytes) {
  const auto entry = parts_of(bytes);
  return entry ? entry->module : bytes;
}

} // namespace winnow::evaluators
