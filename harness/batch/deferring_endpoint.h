#pragma once

#include "agents/model/model_endpoint.h"

#include <mutex>
#include <vector>

namespace winnow::harness {

/// Answers no request. Keeps every request for a request file and replies Deferred. `done` runs
/// before start() returns.
class DeferringEndpoint final : public agents::ModelEndpoint {
public:
  std::string_view kind() const override { return "batch"; }
  void start(agents::ModelRequest request, std::function<void(agents::ModelReply)> done) override;
  void cancel_all() override {} // no request is ever in flight

  std::vector<agents::ModelRequest> requests() const; ///< in the order in which they were asked

private:
  mutable std::mutex mutex_;
  std::vector<agents::ModelRequest> requests_;
};

} // namespace winnow::harness
