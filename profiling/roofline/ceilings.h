#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::profiling {

/// The device and driver of a set of ceilings. Another driver, or another GPU of the same name, may
/// have other limits.
struct CeilingsOwner {
  std::string device; ///< "NVIDIA H200"
  std::string uuid;   ///< "GPU-..."; empty if the device has no UUID
  std::string driver; ///< "CUDA 12.8", "570.86.15"

  bool operator==(const CeilingsOwner&) const = default;
};

/// The bandwidth of a copy of one size: bytes read plus bytes written, per second.
struct BandwidthPoint {
  double bytes = 0; ///< size of the working set: bytes read plus bytes written
  double bytes_per_second = 0;
  std::string level; ///< memory level of the source: "L2", "DRAM"; on a CPU "L1", "L3", "DRAM"
};

/// Measured limits of one device (Williams, Waterman and Patterson, "Roofline", 2009). No number
/// comes from a data sheet. This struct holds the data only; other code measures them.
struct Ceilings {
  CeilingsOwner owner;
  std::string date;                      ///< of the measurement, ISO-8601
  std::vector<BandwidthPoint> bandwidth; ///< in order of size
  /// Operations per second (a fused multiply-add counts as two) by kind: "f32", "f64",
  /// "f16_tensor", "bf16_tensor", "tf32_tensor", "f8_tensor", "i8_tensor".
  std::map<std::string, double> rates;
  std::map<std::string, std::string> no_rate; ///< kinds without a measurement, and the reason
  std::optional<double> launch_overhead_ns;   ///< shortest time of an empty launch

  /// nullopt if this kind was not measured.
  std::optional<double> rate(std::string_view kind) const;
  /// The bandwidth of a working set that was touched just before. Interpolates linearly between the
  /// logarithms of size and bandwidth; outside the measured sizes, uses the nearest one. The level
  /// is that of the nearest size. nullopt without measurements.
  std::optional<BandwidthPoint> bandwidth_at(double bytes) const;
  /// The bandwidth of main memory: the largest working set with level "DRAM"; nullopt without one.
  std::optional<BandwidthPoint> dram() const;
};

void to_json(nlohmann::json& json, const Ceilings& ceilings);

/// "ceilings-nvidia-h200-3f2a91c07bd4.json": one file for each device and driver.
std::string ceilings_file_name(const CeilingsOwner& owner);

/// nullopt for a file that is missing, truncated, or of another device or version, and for values
/// that nobody can have measured; the caller then measures again.
std::optional<Ceilings> load_ceilings(const std::filesystem::path& path,
                                      const CeilingsOwner& owner);

/// Replaces the file in one step. Throws Error if the file cannot be written.
void save_ceilings(const std::filesystem::path& path, const Ceilings& ceilings);

} // namespace winnow::profiling
