#pragma once

#include "evaluators/evaluation/device_pool.h"
#include "harness/client/judge_server.h"

#include <memory>

namespace winnow::harness {

class Lights;

/// The devices of a server, for one task. `lights`: gets the shares of the speed of light.
std::unique_ptr<evaluators::DevicePool>
server_devices(const ServerOptions& server, const ServedTask& task, std::shared_ptr<Lights> lights);

} // namespace winnow::harness
