// Translates CUPTI's errors for the user. For the .cpp files of this folder only.
#pragma once

#include "base/error.h"
#include "profiling/counters/cupti_functions.h"

#include <string>

namespace winnow::profiling::cupti {

/// A CUPTI call failed or returned an unusable result. Never leaves this folder.
class CuptiFailure : public Error {
public:
  CuptiFailure(const std::string& what, std::string remedy, bool lasting)
      : Error(what, std::move(remedy)), lasting_(lasting) {}
  /// True if every further attempt in this process will fail, too.
  bool lasting() const { return lasting_; }

private:
  bool lasting_;
};

/// For instance "cuptiRangeProfilerStart: the driver lets only administrators read counters
/// (...)".
CuptiFailure failure_of(const Functions& cupti, CUptiResult result, const char* call);

/// Throws CuptiFailure.
void check(const Functions& cupti, CUptiResult result, const char* call);

/// "CUPTI_ERROR_HARDWARE_BUSY", or the number if CUPTI knows no name.
std::string name_of(const Functions& cupti, CUptiResult result);

} // namespace winnow::profiling::cupti
