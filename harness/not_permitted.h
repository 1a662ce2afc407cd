#pragma once

#include "base/error.h"

namespace winnow::harness {

/// An isolation level or permission that was required is not available. Exit code 4.
class NotPermitted : public Error {
public:
  using Error::Error;
};

} // namespace winnow::harness
