#include "harness/report/worker_line.h"

#include "harness/report/text_table.h"

#include <fmt/format.h>

namespace winnow::harness {

std::string worker_line(const remote::WorkerRoster::Worker& worker) {
  const remote::Heartbeat& beat = worker.heartbeat;
  return on_one_line(
      fmt::format("{}: pool {}, {} x {} ({}), isolation {}, evaluator {}, {} jobs at work{}{}{}",
                  worker.name, beat.pool, beat.devices.size(), beat.devices.front().kind,
                  beat.devices.front().name, beat.isolation, beat.evaluator_version,
                  beat.held.size(), beat.trusted ? ", trusted" : "", beat.torch ? ", PyTorch" : "",
                  beat.last_fault.empty() ? "" : ", last fault: " + beat.last_fault));
}

} // namespace winnow::harness
