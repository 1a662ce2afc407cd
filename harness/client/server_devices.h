#pragma once

#include "evaluators/evaluation/device_pool.h"
#include "harness/client/judge_server.h"

#include <memory>

namespace winnow::harness {

/// The devices of a server, for one task.
std::unique_ptr<evaluators::DevicePool> server_devices(const ServerOptions& server,
                                                       const ServedTask& task);

} // namespace winnow::harness
