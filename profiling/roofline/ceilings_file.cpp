#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json_dump.h"
#include "profiling/json_members.h"
#include "profiling/roofline/ceilings.h"

#include <algorithm>
#include <cctype>
#include <cmath>

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

// Whether these values can come from a measurement.
bool are_measured(const Ceilings& ceilings) {
  double before = 0;
  for (const BandwidthPoint& point : ceilings.bandwidth) {
    if (!is_measure(point.bytes) || !is_measure(point.bytes_per_second) || point.bytes <= before) {
      return false;
    }
    before = point.bytes;
  }
  return std::all_of(ceilings.rates.begin(), ceilings.rates.end(),
                     [](const auto& rate) { return is_measure(rate.second); }) &&
         is_measure(ceilings.launch_overhead_ns.value_or(1));
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

std::optional<Ceilings> load_ceilings(const fs::path& path, const CeilingsOwner& owner) {
  try {
    const nlohmann::json json = nlohmann::json::parse(read_file(path, kMostBytes));
    if (json.at("version").get<int>() == kVersion) {
      Ceilings ceilings = ceilings_of(json);
      if (ceilings.owner == owner && are_measured(ceilings)) {
        return ceilings;
      }
    }
  } catch (const Error&) { // no such file
  } catch (const nlohmann::json::exception&) {
  }
  return std::nullopt;
}

void save_ceilings(const fs::path& path, const Ceilings& ceilings) {
  write_file_atomic(path, json_document(ceilings));
}

} // namespace winnow::profiling
