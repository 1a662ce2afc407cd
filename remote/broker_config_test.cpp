#include "base/files.h"
#include "remote/broker_config.h"
#include "remote/broker_credentials.h"

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::remote {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

BrokerPlan plan() {
  BrokerPlan plan;
  plan.store_folder = "/var/lib/winnow";
  plan.workers = {{"w1", "h200", false}, {"w2", "h200", true}};
  return plan;
}

TEST(BrokerConfig, GivesEachUserARandomPasswordAndWorkersFewRights) {
  const auto files = broker_files(plan());
  const auto again = broker_files(plan());
  EXPECT_EQ(files.at("nats.conf"), again.at("nats.conf"));
  EXPECT_NE(files.at("passwords.conf"), again.at("passwords.conf"));
  const std::string password = files.at("w1.credentials").substr(3, 64);
  EXPECT_THAT(files.at("nats.conf"), Not(HasSubstr(password)));
  EXPECT_THAT(files.at("passwords.conf"), HasSubstr("password_0: \"" + password + "\""));
  const std::string conf = files.at("nats.conf");
  const std::string w1 =
      conf.substr(conf.find("user: w1"), conf.find("user: w2") - conf.find("user: w1"));
  EXPECT_THAT(w1, HasSubstr("\"wresult.h200.*.*.w1\""));
  EXPECT_THAT(w1, Not(HasSubstr("WTRUST")));
  EXPECT_THAT(conf.substr(conf.find("user: w2")), HasSubstr("MSG.NEXT.WTRUST.h200"));
  EXPECT_EQ(files.count("coordinator.credentials"), 1U);
}

TEST(BrokerConfig, HasTlsIfItIsAskedFor) {
  EXPECT_THAT(broker_files(plan()).at("nats.conf"), Not(HasSubstr("cert_file")));
  BrokerPlan with_tls = plan();
  with_tls.tls = {"/etc/server.pem", "/etc/server.key", ""};
  EXPECT_THAT(broker_files(with_tls).at("nats.conf"),
              HasSubstr("tls {\n  cert_file: \"/etc/server.pem\"\n"
                        "  key_file: \"/etc/server.key\"\n}\n"));
  with_tls.tls.client_ca = "/etc/ca.pem";
  EXPECT_THAT(broker_files(with_tls).at("nats.conf"),
              HasSubstr("  ca_file: \"/etc/ca.pem\"\n  verify: true"));
  with_tls.tls.key = "";
  EXPECT_THROW(broker_files(with_tls), UsageError);
  with_tls.tls.key = "a\" b";
  EXPECT_THROW(broker_files(with_tls), UsageError);
}

TEST(BrokerConfig, RefusesNamesThatWouldMeanOtherSubjects) {
  for (const std::string& name : {std::string("a.b"), std::string("*"), std::string("coordinator"),
                                  std::string("w2"), std::string("a\"b")}) {
    BrokerPlan bad = plan();
    bad.workers[0].name = name;
    EXPECT_THROW(broker_files(bad), UsageError) << name;
  }
}

TEST(BrokerConfig, WritesFilesThatNobodyElseReadsAndReplacesNone) {
  const TemporaryDirectory folder("broker");
  const fs::path place = folder.path() / "new";
  write_private_files(place, {{"a", "secret"}});
  EXPECT_EQ(fs::status(place).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(place / "a").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_THROW(write_private_files(place, {{"0", ""}, {"a", "other"}}), UsageError);
  EXPECT_FALSE(fs::exists(place / "0"));
  EXPECT_EQ(read_file(place / "a", 100), "secret");
}

TEST(BrokerCredentials, ComeFromAPrivateFile) {
  const TemporaryDirectory folder("broker");
  write_private_files(folder.path(), {{"w1", "w1:pass:word\n"}, {"bad", "w1\n"}, {"empty", ""}});
  const std::string file = (folder.path() / "w1").string();
  const BrokerAddress address = broker_address("nats://host:4222", {file});
  EXPECT_EQ(address.user, "w1");
  EXPECT_EQ(address.password, "pass:word");
  EXPECT_THROW(broker_address("nats://host", {(folder.path() / "bad").string()}), UsageError);
  EXPECT_THROW(broker_address("nats://host", {(folder.path() / "empty").string()}), UsageError);
  EXPECT_THROW(broker_address("nats://host", {(folder.path() / "none").string()}), Error);
  fs::permissions(file, fs::perms::others_read, fs::perm_options::add);
  EXPECT_THROW(broker_address("nats://host", {file}), UsageError);
}

TEST(BrokerCredentials, LeaveTheEnvironment) {
  setenv(kCredentialsVariable, "w1:secret", 1);
  EXPECT_EQ(broker_address("nats://host", {}).password, "secret");
  EXPECT_EQ(std::getenv(kCredentialsVariable), nullptr);
  EXPECT_EQ(broker_address("nats://host", {}).user, "w1"); // the second time
}

TEST(BrokerCredentials, RefuseAddressesThatAreNone) {
  for (const char* url : {"", "host", "http://host", "nats://", "nats://user:password@host"}) {
    EXPECT_THROW(broker_address(url, {}), UsageError) << url;
  }
}

TEST(BrokerCredentials, TakeFilesOfTls) {
  const TemporaryDirectory folder("broker");
  write_private_files(folder.path(), {{"ca", "x"}, {"pem", "x"}, {"key", "x"}});
  const auto path = [&](const char* name) { return (folder.path() / name).string(); };
  const auto address = broker_address("tls://host", {"", path("ca"), path("pem"), path("key")});
  EXPECT_EQ(address.ca_file, path("ca"));
  EXPECT_EQ(address.certificate_file, path("pem"));
  EXPECT_EQ(address.key_file, path("key"));
  EXPECT_THROW(broker_address("nats://host", {"", path("ca")}), UsageError);
  EXPECT_THROW(broker_address("tls://host", {"", path("none")}), UsageError);
  EXPECT_THROW(broker_address("tls://host", {"", "", path("pem")}), UsageError);
  EXPECT_THROW(broker_address("tls://host", {"", "", "", path("key")}), UsageError);
  fs::permissions(path("key"), fs::perms::group_read, fs::perm_options::add);
  try {
    broker_address("tls://host", {"", "", path("pem"), path("key")});
    ADD_FAILURE();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("which holds a private key"));
    EXPECT_EQ(error.remedy(), "chmod 600 " + path("key"));
  }
}

} // namespace
} // namespace winnow::remote
