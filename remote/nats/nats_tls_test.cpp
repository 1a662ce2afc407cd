// The connection to a real nats-server with TLS on the loopback interface.
#include "remote/broker_credentials.h"
#include "remote/testing/certificates_fake.h"
#include "remote/testing/nats_server_fake.h"
#include "remote/transport_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::remote {
namespace {

using testing::HasSubstr;

class NatsTls : public testing::Test {
protected:
  void SetUp() override {
    for (const std::string& why :
         {test::NatsServerFake::why_not(), test::CertificatesFake::why_not()}) {
      if (!why.empty()) {
        GTEST_SKIP() << why;
      }
    }
    certificates_ = std::make_unique<test::CertificatesFake>();
  }
  void start(const std::string& names, bool asks_clients = false) {
    const auto own = certificates_->issue("server", names);
    server_ = std::make_unique<test::NatsServerFake>(
        std::vector<WorkerIdentity>{{"a", "pool", false}},
        BrokerTls{own.certificate, own.key, asks_clients ? certificates_->ca() : ""});
  }
  BrokerAddress address(const BrokerFiles& files) const {
    BrokerFiles all = files;
    all.credentials = server_->credentials_file("coordinator");
    return broker_address(server_->url(), all);
  }
  /// Empty: the connection works.
  static std::string refusal(const BrokerAddress& broker) {
    try {
      nats_transports().coordinator(broker, "session")->prepare("pool");
      return "";
    } catch (const BrokerRefused& error) {
      return std::string(error.what()) + "; " + error.remedy();
    } catch (const Error& error) {
      return std::string("another error: ") + error.what() + "; " + error.remedy();
    }
  }

  std::unique_ptr<test::CertificatesFake> certificates_;
  std::unique_ptr<test::NatsServerFake> server_;
};

TEST_F(NatsTls, TrustsTheGivenAuthorityOnly) {
  start("IP:127.0.0.1,DNS:localhost");
  EXPECT_EQ(refusal(address({"", certificates_->ca()})), "");
  EXPECT_THAT(refusal(address({})), HasSubstr("unable to get local issuer certificate"));
  const test::CertificatesFake foreign;
  EXPECT_THAT(refusal(address({"", foreign.ca()})),
              HasSubstr("unable to get local issuer certificate"));
  BrokerAddress plain = address({"", certificates_->ca()});
  plain.url.replace(0, 3, "nats");
  EXPECT_THAT(refusal(plain), HasSubstr("write tls:// in the place of nats://"));
}

TEST_F(NatsTls, RefusesTheCertificateOfAnotherHost) {
  start("DNS:other.example");
  EXPECT_THAT(refusal(address({"", certificates_->ca()})), HasSubstr("no TLS with the broker"));
}

TEST_F(NatsTls, ChecksTheNameOfTheHost) {
  start("DNS:localhost");
  BrokerAddress broker = address({"", certificates_->ca()});
  EXPECT_THAT(refusal(broker), HasSubstr("no TLS with the broker"));
  broker.url.replace(broker.url.find("127.0.0.1"), 9, "localhost");
  EXPECT_EQ(refusal(broker), "");
}

TEST_F(NatsTls, ShowsItsCertificateToABrokerThatAsksForOne) {
  start("IP:127.0.0.1", true);
  const auto own = certificates_->issue("client", "DNS:coordinator");
  EXPECT_EQ(refusal(address({"", certificates_->ca(), own.certificate, own.key})), "");
  const std::string hint = "give --broker-certificate and --broker-key";
  EXPECT_THAT(refusal(address({"", certificates_->ca()})), HasSubstr(hint));
  const test::CertificatesFake others;
  const auto foreign = others.issue("client", "DNS:coordinator");
  EXPECT_THAT(refusal(address({"", certificates_->ca(), foreign.certificate, foreign.key})),
              HasSubstr(hint));
  const auto other = certificates_->issue("other", "DNS:coordinator");
  EXPECT_THAT(refusal(address({"", certificates_->ca(), own.certificate, other.key})),
              HasSubstr("cannot use --broker-certificate " + own.certificate));
}

TEST_F(NatsTls, SaysThatTheBrokerHasNone) {
  server_ =
      std::make_unique<test::NatsServerFake>(std::vector<WorkerIdentity>{{"a", "pool", false}});
  BrokerAddress broker = server_->address_of("coordinator");
  broker.url.replace(0, 4, "tls");
  EXPECT_THAT(refusal(broker), HasSubstr("the broker has no TLS: write nats://"));
}

} // namespace
} // namespace winnow::remote
