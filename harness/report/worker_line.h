#pragma once

#include "remote/worker_roster.h"

#include <string>

namespace winnow::harness {

/// A line about a worker, without a line end. A worker writes its own texts, so that none of them
/// can look like a second line.
std::string worker_line(const remote::WorkerRoster::Worker& worker);

} // namespace winnow::harness
