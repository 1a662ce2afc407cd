#pragma once

#include "store/run_store.h"

#include <string>

namespace winnow::harness {

/// Throws UsageError if the run does not exist.
store::RunRow named_run(const store::RunStore& store, const std::string& name_or_number);

/// The name of a run in the form that queries take; empty if `name_or_number` is empty. Throws
/// UsageError.
std::string only_run(const store::RunStore& store, const std::string& name_or_number);

} // namespace winnow::harness
