// What a worker's password opens at a real nats-server: each subject that coordinators, workers and
// the server know, as each user.
#include "base/error.h"
#include "base/unique_fd.h"
#include "remote/testing/nats_server_fake.h"

#include <set>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace winnow::remote {
namespace {

/// A client that speaks the protocol of NATS itself, so that no library stops it.
class RawClient {
public:
  explicit RawClient(const BrokerAddress& address)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in server{};
    server.sin_family = AF_INET;
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server.sin_port = htons(
        static_cast<std::uint16_t>(std::stoi(address.url.substr(address.url.rfind(':') + 1))));
    if (connect(socket_.get(), reinterpret_cast<const sockaddr*>(&server), sizeof server) != 0) {
      throw Error("no connection to " + address.url);
    }
    ask(fmt::format(R"(CONNECT {{"verbose":false,"user":"{}","pass":"{}"}})", address.user,
                    address.password));
  }

  bool may_publish(const std::string& subject) { return may("PUB " + subject + " 0\r\n"); }
  bool may_subscribe(const std::string& subject) { return may("SUB " + subject + " 1"); }
  /// What the server says until it answers a ping.
  std::string ask(const std::string& command) {
    const std::string text = command + "\r\nPING\r\n";
    if (write(socket_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      throw Error("the server has closed the connection");
    }
    std::string answer;
    char bytes[4096];
    while (answer.find("PONG\r\n") == std::string::npos) {
      const ssize_t count = read(socket_.get(), bytes, sizeof bytes);
      if (count <= 0) {
        throw Error("the server has closed the connection: " + answer);
      }
      answer.append(bytes, static_cast<std::size_t>(count));
    }
    return answer;
  }

private:
  bool may(const std::string& command) {
    return ask(command).find("Permissions Violation") == std::string::npos;
  }

  UniqueFd socket_;
};

/// Who may do something; the coordinator may do all.
using Users = std::set<std::string>;

struct Right {
  std::string subject;
  Users workers;
};

class NatsRights : public testing::Test {
protected:
  void SetUp() override {
    if (const std::string why = test::NatsServerFake::why_not(); !why.empty()) {
      GTEST_SKIP() << why;
    }
    server_ = std::make_unique<test::NatsServerFake>(workers_);
  }

  void expect(const std::vector<Right>& rights, bool (RawClient::*may)(const std::string&)) {
    for (const WorkerIdentity& worker : workers_) {
      for (const Right& right : rights) {
        RawClient client(server_->address_of(worker.name)); // an answer may come late
        EXPECT_EQ((client.*may)(right.subject), right.workers.contains(worker.name))
            << worker.name << ": " << right.subject;
      }
    }
    RawClient coordinator(server_->address_of("coordinator"));
    for (const Right& right : rights) {
      EXPECT_TRUE((coordinator.*may)(right.subject)) << right.subject;
    }
  }

  const std::vector<WorkerIdentity> workers_{
      {"a", "one", false}, {"b", "one", true}, {"c", "two", false}};
  std::unique_ptr<test::NatsServerFake> server_;
};

TEST_F(NatsRights, AWorkerSendsOnlyWhatIsItsOwn) {
  std::vector<Right> rights{
      // Results and heartbeats name their pool and their worker.
      {"wresult.one.session.job.a", {"a"}},
      {"wresult.one.session.job.b", {"b"}},
      {"wresult.two.session.job.c", {"c"}},
      {"wresult.two.session.job.a", {}},
      {"wresult.session.job.a", {}},
      {"wworker.one.a", {"a"}},
      {"wworker.one.b", {"b"}},
      {"wworker.two.c", {"c"}},
      {"wworker.two.a", {}},
      {"wworker.a", {}},
      // Jobs, and what only coordinators say.
      {"wjob.one.session.job", {}},
      {"wtrust.one.session.job", {}},
      {"wcancel.one.session", {}},
      {"wask", {}},
      {"$KV.wpool_one.rules", {}},
      {"$KV.wpool_two.rules", {}},
      {"_INBOX_a.x", {}},
      {"_INBOX_b.x", {}},
      // Jobs of the own pool; the store of the own pool.
      {"$JS.API.CONSUMER.MSG.NEXT.WJOB.one", {"a", "b"}},
      {"$JS.API.CONSUMER.MSG.NEXT.WJOB.two", {"c"}},
      {"$JS.API.CONSUMER.MSG.NEXT.WTRUST.one", {"b"}},
      {"$JS.API.CONSUMER.MSG.NEXT.WTRUST.two", {}},
      {"$JS.API.CONSUMER.MSG.NEXT.WRESULT_one.session", {}},
      {"$JS.API.CONSUMER.MSG.NEXT.WDEAD.session", {}},
      {"$JS.API.CONSUMER.INFO.WJOB.one", {"a", "b"}},
      {"$JS.API.CONSUMER.INFO.WJOB.two", {"c"}},
      {"$JS.API.CONSUMER.INFO.WTRUST.one", {"b"}},
      {"$JS.API.CONSUMER.INFO.WRESULT_one.session", {}},
      {"$JS.ACK.WJOB.one.1.1.1.1.1", {"a", "b"}},
      {"$JS.ACK.WJOB.two.1.1.1.1.1", {"c"}},
      {"$JS.ACK.WTRUST.one.1.1.1.1.1", {"b"}},
      {"$JS.ACK.WRESULT_one.session.1.1.1.1.1", {}},
      {"$JS.ACK.WDEAD.session.1.1.1.1.1", {}},
      {"$JS.API.DIRECT.GET.KV_wpool_one.$KV.wpool_one.rules", {"a", "b"}},
      {"$JS.API.DIRECT.GET.KV_wpool_two.$KV.wpool_two.rules", {"c"}},
      {"$JS.API.STREAM.INFO.KV_wpool_one", {"a", "b"}},
      {"$JS.API.STREAM.INFO.KV_wpool_two", {"c"}},
      {"$JS.API.DIRECT.GET.WJOB", {}},
  };
  for (const char* stream : {"WJOB", "WTRUST", "WRESULT_one", "WDEAD", "KV_wpool_one"}) {
    for (const char* request : {"CREATE", "UPDATE", "DELETE", "PURGE", "SNAPSHOT", "RESTORE",
                                "MSG.GET", "MSG.DELETE", "LEADER.STEPDOWN"}) {
      rights.push_back({fmt::format("$JS.API.STREAM.{}.{}", request, stream), {}});
    }
    for (const char* request : {"CREATE.{}", "CREATE.{}.one", "DURABLE.CREATE.{}.one",
                                "DELETE.{}.one", "NAMES.{}", "LIST.{}", "PAUSE.{}.one"}) {
      rights.push_back({"$JS.API.CONSUMER." + fmt::format(fmt::runtime(request), stream), {}});
    }
  }
  for (const char* stream : {"WJOB", "WTRUST", "WRESULT_one", "WDEAD"}) {
    rights.push_back({fmt::format("$JS.API.STREAM.INFO.{}", stream), {}});
  }
  for (const char* request : {"INFO", "STREAM.NAMES", "STREAM.LIST"}) {
    rights.push_back({fmt::format("$JS.API.{}", request), {}});
  }
  expect(rights, &RawClient::may_publish);
}

TEST_F(NatsRights, AWorkerHearsOnlyWhatIsForIt) {
  expect({{"_INBOX_a.>", {"a"}},
          {"_INBOX_b.>", {"b"}},
          {"wcancel.one.*", {"a", "b"}},
          {"wcancel.two.*", {"c"}},
          {"wcancel.*.*", {}},
          {"wask", {"a", "b", "c"}},
          {"wjob.>", {}},
          {"wtrust.>", {}},
          {"wresult.>", {}},
          {"wworker.*.*", {}},
          {"$KV.>", {}},
          {"$JS.>", {}},
          {"_INBOX.>", {}},
          {">", {}}},
         &RawClient::may_subscribe);
}

// Whoever asks the broker names a subject for the answer, which no right of the user bounds.
TEST_F(NatsRights, NoAnswerThatAWorkerAsksForReachesAnotherPool) {
  constexpr const char* kNothing = "UNSUB 9";
  RawClient worker(server_->address_of("a")), coordinator(server_->address_of("coordinator")),
      other(server_->address_of("c"));
  worker.ask("SUB _INBOX_a.> 1");
  coordinator.ask("SUB w*.two.> 1");
  coordinator.ask("SUB $JS.ACK.> 2");
  other.ask("SUB wcancel.two.* 1");
  other.ask("SUB _INBOX_c.> 2");
  for (const char* request :
       {"$JS.API.CONSUMER.INFO.WJOB.one", "$JS.API.STREAM.INFO.KV_wpool_one",
        "$JS.API.CONSUMER.MSG.NEXT.WJOB.one", "WAPI.CONSUMER.INFO.WJOB.one"}) {
    for (const char* place : {"wworker.two.c", "wresult.two.session.job.c", "wcancel.two.session",
                              "wjob.two.s.job", "_INBOX_c.x", "$JS.ACK.WJOB.two.1.1.1.1.1"}) {
      worker.ask(fmt::format("PUB {} {} 0\r\n", request, place));
    }
  }
  std::string heard = worker.ask("PUB $JS.API.CONSUMER.INFO.WJOB.one _INBOX_a.last 0\r\n");
  while (heard.find("_INBOX_a.last") == std::string::npos) {
    heard += worker.ask(kNothing);
  }
  EXPECT_EQ(coordinator.ask(kNothing), "PONG\r\n");
  EXPECT_EQ(other.ask(kNothing), "PONG\r\n");
}

} // namespace
} // namespace winnow::remote
