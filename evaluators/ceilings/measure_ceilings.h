#pragma once

#include "evaluators/device/device_host.h"
#include "evaluators/evaluation/evaluator.h"
#include "profiling/roofline/ceilings.h"

#include <optional>

namespace winnow::evaluators {

/// Measures what the host's device reaches now, by kernels of our own (kernels/*.cu) that run as a
/// candidate's do: medians of timed launches. Takes seconds. Never throws for what a measurement
/// does: a kind that failed is in `no_rate` with the reason, and so are "bandwidth" (when a size
/// failed) and "launch".
///
/// Bandwidth is of a copy: float4 on GPUs, past the L1 caches. On sm_90a tensor rates are those of
/// wgmma with both operands in shared memory, else of mma.sync with all of them in registers;
/// factors are of either sign and of magnitude 0.5 to 1, so that power is what it usually is.
profiling::Ceilings measure_ceilings(DeviceHost& host, const EvaluationOptions& options);

/// What these ceilings are filed under: the device, and its driver.
profiling::CeilingsOwner ceilings_owner(const DeviceReport& device);

/// Those in the file in the host's cache directory; nothing is measured. Throws nothing.
std::optional<profiling::Ceilings> cached_ceilings(const DeviceHost& host);

/// The same, but measured now and saved there when there are none.
/// A measurement without a bandwidth or an f32 rate is not saved. Throws nothing; a file that
/// cannot be written means that the next process measures again.
profiling::Ceilings load_or_measure_ceilings(DeviceHost& host, const EvaluationOptions& options);

/// The same, once for each device and cache directory in this process: the reference stays valid.
/// Any thread that may use the host's runner now.
const profiling::Ceilings& ceilings_of(DeviceHost& host, const EvaluationOptions& options);

} // namespace winnow::evaluators
