#pragma once

#include "harness/serve/exchange.h"
#include "harness/serve/target.h"

#include <memory>
#include <string>

namespace winnow::harness {

/// The routes below /v1 and /compat (docs/serve.md).
class JudgeRoutes {
public:
  virtual ~JudgeRoutes() = default;
  /// Answers now or later. `owner`: of the request's token. Throws UsageError for a request that
  /// the client must change, Error if the store fails.
  virtual void answer(const std::shared_ptr<Exchange>& exchange, const Target& target,
                      const std::string& owner) = 0;
  virtual void tick() = 0;
  virtual void end() = 0;
};

} // namespace winnow::harness
