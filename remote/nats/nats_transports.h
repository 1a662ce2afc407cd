#pragma once

#include "remote/job_transport.h"

#include <memory>
#include <string>

namespace winnow::remote {

/// Both throw BrokerUnavailable, BrokerRefused.
std::unique_ptr<CoordinatorTransport> nats_coordinator(const BrokerAddress& broker,
                                                       const std::string& session);
std::unique_ptr<WorkerTransport> nats_worker(const BrokerAddress& broker,
                                             const WorkerIdentity& identity);

} // namespace winnow::remote
