#include "harness/log.h"

#include "harness/report/terminal.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace winnow::harness {

void start_log(const std::string& level) {
  auto logger =
      std::make_shared<spdlog::logger>("winnow", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  // On a terminal a message replaces the status line of a run, which is then drawn again.
  logger->set_pattern(stderr_is_terminal() ? "\r\x1b[K%H:%M:%S %l: %v"
                                           : "%Y-%m-%dT%H:%M:%S.%e %l: %v");
  logger->set_level(spdlog::level::from_str(level));
  spdlog::set_default_logger(std::move(logger));
}

} // namespace winnow::harness
