// What CUPTI's errors mean to the user: for this folder's .cpp files only.
#pragma once

#include "base/error.h"
#include "profiling/counters/cupti_functions.h"

#include <string>

namespace winnow::profiling::cupti {

/// A call of CUPTI failed, or what it returned is of no use. Never leaves this folder.
class CuptiFailure : public Error {
public:
  CuptiFailure(const std::string& what, std::string remedy, bool lasting)
      : Error(what, std::move(remedy)), lasting_(lasting) {}
  /// It will fail for every kernel of this process: there is no use in trying again.
  bool lasting() const { return lasting_; }

private:
  bool lasting_;
};

/// "cuptiRangeProfilerStart: the driver lets administrators alone read counters (...)"
CuptiFailure failure_of(const Functions& cupti, CUptiResult result, const char* call);

/// Throws CuptiFailure.
void check(const Functions& cupti, CUptiResult result, const char* call);

/// "CUPTI_ERROR_HARDWARE_BUSY", or its number where CUPTI knows no name.
std::string name_of(const Functions& cupti, CUptiResult result);

} // namespace winnow::profiling::cupti
