#pragma once

#include "evaluators/host/device_host.h"
#include "profiling/roofline/ceilings.h"

#include <optional>

namespace winnow::evaluators {

/// Measures what the host's device reaches now: medians of timed launches of Winnow's own kernels
/// (kernels/*.cu), which run like a candidate. Takes seconds. Never throws because of a failed
/// measurement: `no_rate` then has the kind with the reason. The keys "bandwidth" (a size failed)
/// and "launch" may be there, too.
///
/// Bandwidth is the bandwidth of a copy; on GPUs, a copy by float4 that bypasses the L1 caches. On
/// sm_90a a tensor rate is the rate of wgmma with both operands in shared memory, on other GPUs of
/// mma.sync with all operands in registers. The factors have either sign and magnitudes from 0.5 to
/// 1, so that the power draw is typical.
profiling::Ceilings measure_ceilings(DeviceHost& host, const MachineOptions& machine);

/// The key under which the ceilings are filed: the device and its driver.
profiling::CeilingsOwner ceilings_owner(const DeviceReport& device);

/// The ceilings in the file of the host's cache directory, which is read until it has some.
/// Measures nothing and throws nothing. nullopt: the file has none.
const std::optional<profiling::Ceilings>& cached_ceilings(DeviceHost& host);

/// Like cached_ceilings(), but measures and saves the ceilings if the file has none. A measurement
/// without a bandwidth or an f32 rate is not saved. Throws nothing: if the file cannot be written,
/// the next host measures again. One host measures at a time. The reference is valid as long as the
/// host.
const profiling::Ceilings& ceilings_of(DeviceHost& host, const MachineOptions& machine);

} // namespace winnow::evaluators
