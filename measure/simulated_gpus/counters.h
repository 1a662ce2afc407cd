#pragma once

namespace winnow::simulated_gpus {

/// Lets Winnow find CUPTI in this library: a double whose calls take the time of an H100's.
void offer_counters();

} // namespace winnow::simulated_gpus
