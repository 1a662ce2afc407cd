#pragma once

#include "base/error.h"

namespace winnow::harness {

/// A required isolation level or permission is not available. Exit code 4.
class NotPermitted : public Error {
public:
  using Error::Error;
};

} // namespace winnow::harness
