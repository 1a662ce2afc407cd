#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json_dump.h"
#include "profiling/json_members.h"
#include "profiling/roofline/ceilings.h"

#include <cctype>
#include <cmath>
#include <system_error>

#include <fmt/format.h>

namespace winnow::profiling {

WINNOW_JSON_MEMBERS(BandwidthPoint, bytes, bytes_per_second, level)
WINNOW_JSON_MEMBERS(CeilingsOwner, device, uuid, driver)

namespace {

namespace fs = std::filesystem;

// Raise this number when a measured value changes its meaning. Older files are then measured again.
constexpr int kVersion = 2;
constexpr std::uint64_t kMostBytes = 1 << 20;

Ceilings ceilings_of(const nlohmann::json& json) {
  Ceilings ceilings;
  json.get_to(ceilings.owner);
  json.at("date").get_to(ceilings.date);
  json.at("bandwidth").get_to(ceilings.bandwidth);
  json.at("rates").get_to(ceilings.rates);
  json.at("no_rate").get_to(ceilings.no_rate);
  json.at("launch_overhead_ns").get_to(ceilings.launch_overhead_ns);
  return ceilings;
}

bool is_measure(double value) {
  return std::isfinite(value) && value > 0;
}

// Why these values cannot come from a measurement; empty if they can.
std::string fault_of(const Ceilings& ceilings) {
  double before = 0;
  for (const BandwidthPoint& point : ceilings.bandwidth) {
    if (!is_measure(point.bytes) || !is_measure(point.bytes_per_second) || point.bytes <= before) {
      return fmt::format("holds an impossible bandwidth: {} bytes/s at {} bytes",
                         point.bytes_per_second, point.bytes);
    }
    before = point.bytes;
  }
  for (const auto& [kind, rate] : ceilings.rates) {
    if (!is_measure(rate)) {
      return fmt::format("holds an impossible rate: {} of {}", rate, kind);
    }
  }
  if (ceilings.launch_overhead_ns && !is_measure(*ceilings.launch_overhead_ns)) {
    return fmt::format("holds an impossible time of a launch: {} ns", *ceilings.launch_overhead_ns);
  }
  return {};
}

LoadedCeilings none(const fs::path& path, std::string_view why) {
  return {std::nullopt, fmt::format("{}: {}", path.string(), why)};
}

LoadedCeilings parsed(const fs::path& path, const std::string& text, const CeilingsOwner& owner) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    if (const int version = json.at("version").get<int>(); version != kVersion) {
      return none(path, fmt::format("has version {}, not {}", version, kVersion));
    }
    Ceilings ceilings = ceilings_of(json);
    if (ceilings.owner != owner) {
      return none(path, fmt::format("was measured on {} ({}, {})", ceilings.owner.device,
                                    ceilings.owner.uuid, ceilings.owner.driver));
    }
    if (const std::string fault = fault_of(ceilings); !fault.empty()) {
      return none(path, fault);
    }
    return {std::move(ceilings), {}};
  } catch (const nlohmann::json::exception& error) {
    return none(path, fmt::format("is not a ceilings file: {}", error.what()));
  }
}

} // namespace

void to_json(nlohmann::json& json, const Ceilings& ceilings) {
  json = ceilings.owner;
  json["version"] = kVersion;
  json["date"] = ceilings.date;
  json["bandwidth"] = ceilings.bandwidth;
  json["rates"] = ceilings.rates;
  json["no_rate"] = ceilings.no_rate;
  json["launch_overhead_ns"] = ceilings.launch_overhead_ns;
}

std::string ceilings_file_name(const CeilingsOwner& owner) {
  std::string name;
  for (const char c : owner.device) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      name += static_cast<char>(std::tolower(byte));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  constexpr std::size_t kLongestName = 60;
  constexpr std::size_t kDigits = 12;
  const std::string digest = sha256_hex(owner.device + '\n' + owner.uuid + '\n' + owner.driver);
  return fmt::format("ceilings-{}-{}.json", name.substr(0, kLongestName),
                     digest.substr(0, kDigits));
}

LoadedCeilings load_ceilings(const fs::path& path, const CeilingsOwner& owner) {
  std::error_code code;
  if (!fs::exists(path, code)) {
    return none(path, "not measured yet");
  }
  try {
    return parsed(path, read_file(path, kMostBytes), owner);
  } catch (const Error& error) {
    return {std::nullopt, error.what()};
  }
}

void save_ceilings(const fs::path& path, const Ceilings& ceilings) {
  write_file_atomic(path, json_document(ceilings));
}

} // namespace winnow::profiling
