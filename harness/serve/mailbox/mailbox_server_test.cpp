#include "base/error.h"
#include "harness/serve/mailbox/mailbox_server.h"
#include "harness/serve/testing/http_fixture.h"

#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct MailboxServerTest : test::HttpFixture {
  MailboxServerTest() { fs::create_directory(box); }

  InTurn post() {
    return [this](const std::string& owner, std::function<void()> work, Turn turn) {
      server->post(owner, std::move(work), turn);
    };
  }
  void serve(std::optional<std::string> authorization = std::nullopt) {
    mail.emplace(box, std::move(authorization), application, post());
  }
  Mailbox::Answer answer_for(const std::string& letter) const {
    const Mailbox client(box);
    std::optional<Mailbox::Answer> answer;
    EXPECT_TRUE(soon([&] { return (answer = client.take_answer(letter)).has_value(); }));
    return answer.value_or(Mailbox::Answer{});
  }
  Mailbox::Answer ask(const Mailbox::Letter& letter) const {
    return answer_for(Mailbox(box).send(letter));
  }
  fs::path file(const std::string& one) const { return box / one; }

  fs::path box = folder.path() / "box";
  const std::string name = std::string(32, 'a');
  std::optional<MailboxServer> mail;
};

TEST_F(MailboxServerTest, AnswersLetters) {
  EXPECT_FALSE(Mailbox(box).has_server());
  const std::string early = Mailbox(box).send({"POST", "/echo", "", "before the server began"});
  serve();
  EXPECT_TRUE(Mailbox(box).has_server());
  EXPECT_EQ(answer_for(early).body, "before the server began");
  const Mailbox::Answer lines = ask({"GET", "/lines", "", ""});
  EXPECT_EQ(lines.status, 200);
  EXPECT_EQ(lines.body, "one\ntwo\n");
  EXPECT_EQ(ask({"GET", "/refused", "", ""}).status, 401);
  EXPECT_EQ(ask({"GET", "/dropped", "", ""}).status, 503);
}

TEST_F(MailboxServerTest, RefusesWhatIsNoLetter) {
  serve();
  const fs::path secret = folder.path() / "secret";
  std::ofstream(secret) << R"({"method":"POST","target":"/","authorization":"","body":"secret"})";
  const auto refused = [&](const std::function<void(const fs::path&)>& make) {
    make(file("draft"));
    fs::rename(file("draft"), file(name + ".request"));
    const Mailbox::Answer answer = answer_for(name);
    return answer.status == 400 && answer.body.find("secret") == std::string::npos;
  };
  EXPECT_TRUE(refused([&](const fs::path& path) { fs::create_symlink(secret, path); }));
  EXPECT_TRUE(refused([](const fs::path& path) { EXPECT_EQ(mkfifo(path.c_str(), 0600), 0); }));
  for (const std::string& text : {std::string("{"), std::string("[1]"), std::string("{}"),
                                  std::string(100'000, '['), std::string("{\"method\":1}")}) {
    EXPECT_TRUE(refused([&](const fs::path& path) { std::ofstream(path) << text; })) << text;
  }
  EXPECT_TRUE(refused([](const fs::path& path) { // too large, and sparse
    std::ofstream(path) << "{";
    fs::resize_file(path, std::uintmax_t{1} << 40U);
  }));
  fs::create_directory(file(std::string(32, 'b') + ".request")); // is left alone
  std::ofstream(file("../box/x.request")) << "{}";
  EXPECT_EQ(ask({"POST", "/echo", "", "still there"}).body, "still there");
}

TEST_F(MailboxServerTest, WritesThroughNoLink) {
  serve();
  const fs::path other = folder.path() / "other";
  std::ofstream(other) << "kept";
  fs::create_symlink(other, file(name + ".answer"));
  fs::create_symlink(other, file("." + name + ".answer"));
  std::ofstream(file("draft"))
      << R"({"method":"POST","target":"/echo","authorization":"","body":"new"})";
  fs::rename(file("draft"), file(name + ".request"));
  EXPECT_TRUE(
      soon([&] { return fs::is_regular_file(fs::symlink_status(file(name + ".answer"))); }));
  EXPECT_EQ(read_file(other, 100), "kept");
  EXPECT_EQ(answer_for(name).body, "new");
}

TEST_F(MailboxServerTest, SpeaksForTheOwnerOfTheFolder) {
  serve("Bearer of-the-folder");
  Mailbox(box).send({"GET", "/held", "Bearer another", ""});
  ASSERT_TRUE(soon([&] { return application.still_open > 0; }));
  EXPECT_EQ(application.held.front()->request().authorization, "Bearer of-the-folder");
}

TEST_F(MailboxServerTest, LivesWithoutItsFolder) {
  serve();
  fs::remove_all(box);
  fs::create_directory(box);
  mail.reset();
  EXPECT_THROW(Mailbox(folder.path() / "nowhere"), UsageError);
}

struct SocketFileTest : test::HttpFixture {
  int connected() const {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket.native().copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
};

TEST_F(SocketFileTest, ServesThisUserOnly) {
  const int fd = connected();
  const std::string text = "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi";
  ASSERT_EQ(write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  std::string answer;
  char buffer[4096];
  while (answer.find("hi") == std::string::npos) {
    const ssize_t got = recv(fd, buffer, sizeof buffer, 0);
    ASSERT_GT(got, 0);
    answer.append(buffer, static_cast<std::size_t>(got));
  }
  close(fd);
  EXPECT_THAT(answer, HasSubstr("200"));
  EXPECT_FALSE(mode_if_shared(socket).has_value());
}

TEST_F(SocketFileTest, TakesThePlaceOfADeadSocketOnly) {
  const auto listen = [&](const fs::path& path) {
    HttpServer another({std::nullopt, path}, application);
  };
  EXPECT_THROW(listen(socket), Error); // a server listens there
  EXPECT_THROW(listen(folder.path() / std::string(200, 'x')), UsageError);
  const fs::path text = folder.path() / "text";
  std::ofstream(text) << "kept";
  EXPECT_THROW(listen(text), UsageError);
  EXPECT_THROW(listen(folder.path() / "nowhere" / "socket"), Error);
  const fs::path dead = folder.path() / "dead";
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  dead.native().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  close(fd);
  EXPECT_NO_THROW(listen(dead));
  EXPECT_FALSE(fs::exists(dead)); // removed at the end
}

} // namespace
} // namespace winnow::harness
