// A worker and a coordinator find each other at a real broker with TLS, by the options of the
// program.
#include "remote/testing/certificates_fake.h"
#include "remote/testing/nats_server_fake.h"
#include "tests/e2e/winnow_program.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::test {
namespace {

using remote::test::CertificatesFake;
using remote::test::NatsServerFake;
using testing::HasSubstr;

TEST(BrokerTls, EncryptsWhatWorkersAndCoordinatorsSay) {
  for (const std::string& why : {NatsServerFake::why_not(), CertificatesFake::why_not()}) {
    if (!why.empty()) {
      GTEST_SKIP() << why;
    }
  }
  const CertificatesFake certificates;
  const auto own = certificates.issue("broker", "IP:127.0.0.1");
  const auto client = certificates.issue("client", "DNS:client");
  const NatsServerFake server({{"a", "cpus", true}}, {own.certificate, own.key, certificates.ca()});
  const auto with_tls = [&](std::vector<std::string> arguments, const std::string& user) {
    arguments.insert(arguments.end(),
                     {"--broker", server.url(), "--pool", "cpus", "--broker-credentials",
                      server.credentials_file(user), "--broker-ca", certificates.ca(),
                      "--broker-certificate", client.certificate, "--broker-key", client.key});
    return arguments;
  };
  process::Command command =
      winnow_command(with_tls({"worker", "--device", "cpu", "--trusted"}, "a"));
  command.limits.wall = std::chrono::minutes(5);
  process::ChildProcess worker(command);
  ProgramResult shown;
  for (int i = 0; i < 60 && shown.exit_code != 0; ++i) { // until the worker is there
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    shown = run_winnow(with_tls({"broker", "workers"}, "coordinator"));
  }
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("a: pool cpus"));

  std::filesystem::permissions(client.key, std::filesystem::perms::group_read,
                               std::filesystem::perm_options::add);
  shown = run_winnow(with_tls({"broker", "workers"}, "coordinator"));
  EXPECT_EQ(shown.exit_code, 2);
  EXPECT_THAT(shown.err, HasSubstr("which holds a private key"));
}

} // namespace
} // namespace winnow::test
