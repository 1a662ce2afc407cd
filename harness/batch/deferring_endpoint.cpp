#include "harness/batch/deferring_endpoint.h"

namespace winnow::harness {

void DeferringEndpoint::start(agents::ModelRequest request,
                              std::function<void(agents::ModelReply)> done) {
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(std::move(request));
  }
  agents::ModelReply reply;
  reply.status = agents::ModelReply::Status::Deferred;
  done(std::move(reply));
}

std::vector<agents::ModelRequest> DeferringEndpoint::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

} // namespace winnow::harness
