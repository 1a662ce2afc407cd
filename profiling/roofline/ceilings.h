#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::profiling {

/// Whose ceilings these are. What a driver or another GPU of the same name reaches may differ.
struct CeilingsOwner {
  std::string device; ///< "NVIDIA H200"
  std::string uuid;   ///< "GPU-..."; empty where a device has none
  std::string driver; ///< "CUDA 12.8", "570.86.15"

  bool operator==(const CeilingsOwner&) const = default;
};

/// What a copy of a working set reached: bytes read plus bytes written, by the second.
struct BandwidthPoint {
  double bytes = 0; ///< of the working set: what is read and what is written
  double bytes_per_second = 0;
  std::string level; ///< where it came from: "L2", "DRAM"; on a CPU "L1", "L3", "DRAM"
};

/// Measured limits of one device (Williams, Waterman and Patterson, "Roofline", 2009): no data
/// sheet's figure is in it. Plain data; measuring them is not done here.
struct Ceilings {
  CeilingsOwner owner;
  std::string date;                      ///< of the measurement, ISO-8601
  std::vector<BandwidthPoint> bandwidth; ///< with growing size
  /// Operations by the second (a fused multiply-add is two) by kind: "f32", "f64", "f16_tensor",
  /// "bf16_tensor", "tf32_tensor", "f8_tensor", "i8_tensor".
  std::map<std::string, double> rates;
  std::map<std::string, std::string> no_rate; ///< kinds that could not be measured, and why
  std::optional<double> launch_overhead_ns;   ///< the shortest time of a launch that does nothing

  /// nullopt when this kind was not measured.
  std::optional<double> rate(std::string_view kind) const;
  /// Of a working set that was touched just before: between measured sizes on a line in the
  /// logarithms of both, beyond them the nearest; the level is that of the nearest size. nullopt
  /// without any measurement.
  std::optional<BandwidthPoint> bandwidth_at(double bytes) const;
  /// Of main memory: the largest working set that was measured in "DRAM"; nullopt without one.
  std::optional<BandwidthPoint> dram() const;
};

void to_json(nlohmann::json& json, const Ceilings& ceilings);

/// "ceilings-nvidia-h200-3f2a91c07bd4.json": one file for every device and driver.
std::string ceilings_file_name(const CeilingsOwner& owner);

struct LoadedCeilings {
  std::optional<Ceilings> ceilings;
  std::string why; ///< when there are none: missing, truncated, of another device, of another form
};

/// Never throws for what is in the file or that it is missing: they are measured again then.
LoadedCeilings load_ceilings(const std::filesystem::path& path, const CeilingsOwner& owner);

/// Replaces the file in one step. Throws Error when it cannot be written.
void save_ceilings(const std::filesystem::path& path, const Ceilings& ceilings);

} // namespace winnow::profiling
