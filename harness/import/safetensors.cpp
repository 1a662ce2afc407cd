#include "harness/import/safetensors.h"

#include "base/json_dump.h"

#include <array>
#include <cstdint>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMostHeaderBytes = 16U << 20U;

/// The little-endian number at the begin of the file: the size of the header that follows.
std::uint64_t header_bytes(std::istream& in) {
  std::array<char, 8> bytes{};
  in.read(bytes.data(), bytes.size());
  std::uint64_t size = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    size = size << 8U | static_cast<unsigned char>(bytes[i]);
  }
  return size;
}

} // namespace

std::string safetensors_mistake(const std::filesystem::path& file, const std::string& key) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(file, error);
  std::ifstream in(file, std::ios::binary);
  const std::uint64_t header_size = error || size < 8 ? size : header_bytes(in);
  if (error || size < 8 || header_size > size - 8 || header_size > kMostHeaderBytes) {
    return "is no safetensors file, or it is cut short";
  }
  std::string text(header_size, '\0');
  in.read(text.data(), static_cast<std::streamsize>(header_size));
  const json header = has_too_many_levels(text) ? json() : json::parse(text, nullptr, false);
  if (!header.is_object() || !header.contains(key)) {
    return fmt::format("has no tensor '{}'", key);
  }
  const json ends = header[key].value("data_offsets", json());
  const bool has_end = ends.is_array() && ends.size() == 2 && ends[1].is_number_unsigned();
  if (!has_end || ends[1].get<std::uint64_t>() > size - 8 - header_size) {
    return fmt::format("is cut short: the tensor '{}' ends after the file", key);
  }
  return "";
}

} // namespace winnow::harness
