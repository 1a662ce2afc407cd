#include "harness/client/server_devices.h"

#include "harness/client/server_evaluations.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

class ServerDevices : public evaluators::DevicePool {
public:
  ServerDevices(ServerOptions server, ServedTask task, std::shared_ptr<ServerRemarks> remarks)
      : server_(std::move(server)), task_(std::move(task)), remarks_(std::move(remarks)) {}

  const evaluators::DeviceReport& first() const override { return task_.device; }
  std::size_t size() const override { return 1; }
  std::string names() const override { return "the server's"; }
  void start_torch() const override {} // the server has done so
  std::unique_ptr<evaluators::Evaluations> evaluations(evaluators::TakeResult done) const override {
    return std::make_unique<ServerEvaluations>(server_, task_.task, remarks_, std::move(done));
  }
  std::string account(std::size_t candidates, double seconds) const override {
    return fmt::format("{} candidates in {:.1f} s, judged by {}\n{}", candidates, seconds,
                       server_.server, remarks_->account());
  }

private:
  ServerOptions server_;
  ServedTask task_;
  std::shared_ptr<ServerRemarks> remarks_;
};

} // namespace

std::unique_ptr<evaluators::DevicePool> server_devices(const ServerOptions& server,
                                                       const ServedTask& task,
                                                       std::shared_ptr<ServerRemarks> remarks) {
  return std::make_unique<ServerDevices>(server, task, std::move(remarks));
}

} // namespace winnow::harness
