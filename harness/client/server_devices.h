#pragma once

#include "evaluators/evaluation/device_pool.h"
#include "harness/client/judge_server.h"

#include <memory>

namespace winnow::harness {

class ServerRemarks;

/// The devices of a server, for one task. `remarks`: gets what the server tells beside.
std::unique_ptr<evaluators::DevicePool> server_devices(const ServerOptions& server,
                                                       const ServedTask& task,
                                                       std::shared_ptr<ServerRemarks> remarks);

} // namespace winnow::harness
