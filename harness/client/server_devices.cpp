#include "harness/client/server_devices.h"

#include "harness/client/server_evaluations.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

class ServerDevices : public evaluators::DevicePool {
public:
  ServerDevices(ServerOptions server, ServedTask task, std::shared_ptr<Lights> lights)
      : server_(std::move(server)), task_(std::move(task)), lights_(std::move(lights)) {}

  const evaluators::DeviceReport& first() const override { return task_.device; }
  std::size_t size() const override { return 1; }
  std::string names() const override { return "the server's"; }
  void start_torch() const override {} // the server has done so
  std::unique_ptr<evaluators::Evaluations> evaluations(evaluators::TakeResult done) const override {
    return std::make_unique<ServerEvaluations>(server_, task_.task, lights_, std::move(done));
  }
  std::string account(std::size_t candidates, double seconds) const override {
    const std::string text = fmt::format("{} candidates in {:.1f} s, judged by {}\n", candidates,
                                         seconds, server_.server);
    const nlohmann::json account = JudgeServer(server_).get("/v1/account");
    const nlohmann::json& most = account.at("most");
    return most.is_null() ? text
                          : text + fmt::format("{} of {} evaluations used\n",
                                               account.at("evaluations").dump(), most.dump());
  }

private:
  ServerOptions server_;
  ServedTask task_;
  std::shared_ptr<Lights> lights_;
};

} // namespace

std::unique_ptr<evaluators::DevicePool> server_devices(const ServerOptions& server,
                                                       const ServedTask& task,
                                                       std::shared_ptr<Lights> lights) {
  return std::make_unique<ServerDevices>(server, task, std::move(lights));
}

} // namespace winnow::harness
