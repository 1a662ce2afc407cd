#include "harness/serve/http/request_head.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

/// The status of a refusal; 0 if the header is read.
int status_of(const std::string& fields, const std::string& line = "POST /x HTTP/1.1") {
  const auto parsed = parse_request_head(line + "\r\n" + fields + "Host: h\r\n\r\n");
  const HeadProblem* problem = std::get_if<HeadProblem>(&parsed);
  return problem == nullptr ? 0 : problem->status;
}

TEST(RequestHead, ReadsWhatTheServerNeeds) {
  const auto parsed = parse_request_head("POST /v1/judge?a=b HTTP/1.1\r\nHost:  box:1 \r\n"
                                         "authorization: Bearer x\r\nContent-Length: 12\r\n"
                                         "Connection: Keep-Alive, close\r\nExpect: 100-continue\r\n"
                                         "Other: \xff\r\n\r\n");
  const RequestHead& head = std::get<RequestHead>(parsed);
  EXPECT_EQ(head.request.method, "POST");
  EXPECT_EQ(head.request.target, "/v1/judge?a=b");
  EXPECT_EQ(head.request.host, "box:1");
  EXPECT_EQ(head.request.authorization, "Bearer x");
  EXPECT_EQ(head.length, 12U);
  EXPECT_EQ(head.body_end, BodyEnd::Length);
  EXPECT_FALSE(head.keep_alive);
  EXPECT_TRUE(head.expects_continue);
}

TEST(RequestHead, TakesChunkedAloneAndNoOtherEncoding) {
  EXPECT_EQ(status_of("Transfer-Encoding: chunked\r\n"), 0);
  EXPECT_EQ(status_of("transfer-encoding:\tCHUNKED \r\n"), 0);
  for (const char* fields :
       {"Transfer-Encoding: gzip\r\n", "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding:\r\n",
        "Transfer-Encoding: chunked,\r\n", "Transfer-Encoding: \"chunked\"\r\n",
        "Transfer-Encoding: chunked;q=1\r\n",
        "Transfer-Encoding: \x0b"
        "chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "Transfer-Encoding: chunked\r\n , identity\r\n", "Transfer-Encoding:\r\n\tchunked\r\n",
        "Transfer-Encoding : chunked\r\n", "Transfer-Encoding\t: gzip\r\n",
        " Transfer-Encoding: gzip\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
        "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 3\r\nTransfer-Encoding: identity\r\n", "Transfer-Encoding\r\n"}) {
    EXPECT_EQ(status_of(fields), 501) << fields;
  }
  EXPECT_EQ(status_of("Transfer-Encoding: chunked\r\n", "POST /x HTTP/1.0"), 501);
}

TEST(RequestHead, RefusesWhatAProxyCouldReadOtherwise) {
  for (const char* fields :
       {"Content-Length: 3\r\nContent-Length: 3\r\n", "Content-Length: +3\r\n",
        "Content-Length: 3, 3\r\n", "Content-Length: \r\n", "Content-Length: 0x3\r\n",
        "Content-Length : 3\r\n", "Content-Length: 3\r\n 4\r\n", "A: b\nContent-Length: 3\r\n",
        "A: b\rContent-Length: 3\r\n", "no colon\r\n", ": x\r\n", "A b: c\r\n"}) {
    EXPECT_EQ(status_of(fields), 400) << fields;
  }
  EXPECT_EQ(status_of(std::string("A: b\0c\r\n", 8)), 400);
  for (const char* line : {"GET /x", "GET  /x HTTP/1.1", "GET /x y HTTP/1.1", "GET /x HTTP/2.0",
                           "G(T /x HTTP/1.1", " /x HTTP/1.1", "GET /x http/1.1"}) {
    EXPECT_EQ(status_of("", line), 400) << line;
  }
  EXPECT_EQ(status_of("Content-Length: 99999999999999999999\r\n"), 413);
}

// A client of HTTP/1.0 takes "100 Continue" for the answer.
TEST(RequestHead, ExpectsNothingBeforeTheAnswerInHttp10) {
  const auto parsed =
      parse_request_head("POST /x HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_FALSE(std::get<RequestHead>(parsed).expects_continue);
}

TEST(RequestHead, WantsOneHost) {
  const auto is_read = [](const std::string& text) {
    return std::holds_alternative<RequestHead>(parse_request_head(text));
  };
  EXPECT_FALSE(is_read("GET /x HTTP/1.1\r\nA: b\r\n\r\n"));
  EXPECT_FALSE(is_read("GET /x HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n"));
  EXPECT_FALSE(is_read("GET /x HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"));
  for (const char* host : {"a b", "a/b", "a@b", "a\\b", "a?b", "\xc3\xa4"}) {
    EXPECT_FALSE(is_read(std::string("GET /x HTTP/1.1\r\nHost: ") + host + "\r\n\r\n")) << host;
  }
  EXPECT_TRUE(is_read("GET /x HTTP/1.0\r\n\r\n"));
  for (const char* host : {"", "a", "127.0.0.1:8787", "[::1]:1", "a.b-c_d"}) {
    EXPECT_TRUE(is_read(std::string("GET /x HTTP/1.1\r\nHost: ") + host + "\r\n\r\n")) << host;
  }
}

TEST(RequestHead, BoundsTheNumberOfFields) {
  std::string fields;
  for (int i = 0; i < 129; ++i) {
    fields += "A: b\r\n";
  }
  EXPECT_EQ(status_of(fields), 431);
}

RequestHead chunked() {
  RequestHead head;
  head.body_end = BodyEnd::Chunks;
  return head;
}

/// The end of a chunked body that comes in pieces of this size.
BodyReader::State read(std::string_view text, std::size_t piece, std::string* body = nullptr) {
  BodyReader reader(chunked(), {.body_bytes = 100, .extension_bytes = 20, .trailer_bytes = 30});
  while (!text.empty() && reader.state() == BodyReader::State::More) {
    std::string_view bytes = text.substr(0, piece);
    const std::size_t all = bytes.size();
    reader.take(bytes);
    text.remove_prefix(all - bytes.size());
  }
  if (body != nullptr) {
    *body = reader.body() + "|" + std::string(text);
  }
  return reader.state();
}

TEST(BodyReader, JoinsChunksHoweverTheyAreCut) {
  const std::string_view text =
      "3;a=\"b\"\r\nabc\r\n0a\r\n0123456789\r\n0;x\r\nA: b\r\nC:\r\n\r\nnext";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    std::string body;
    EXPECT_EQ(read(text, piece, &body), BodyReader::State::Done);
    EXPECT_EQ(body, "abc0123456789|next");
  }
}

TEST(BodyReader, RefusesWhatIsNoChunk) {
  for (const char* text :
       {"\r\n", ";a\r\n", "g\r\n", "-1\r\n", "0x3\r\n", " 3\r\n", "3 \r\nabc", "3\nabc",
        "3\r\nabcd", "3\r\nabc\n", "3\r\nabc\rx", "3;a\nb\r\n", "0\r\nA\r\n", "0\r\n: b\r\n",
        "0\r\nA b: c\r\n", "0\r\n\rx", "0000000000000003\r\n", "0\r\nA: b\nC: d\r\n\r\n"}) {
    EXPECT_EQ(read(text, 1), BodyReader::State::Malformed) << text;
  }
}

TEST(BodyReader, BoundsEachPartOverAllChunks) {
  std::string chunks, extensions, trailers;
  for (int i = 0; i < 11; ++i) {
    chunks += "a\r\n0123456789\r\n";
    extensions += "1;ab\r\nx\r\n";
    trailers += "A: b\r\n";
  }
  for (const std::size_t piece : {std::size_t{1}, std::size_t{1000}}) {
    EXPECT_EQ(read(chunks, piece), BodyReader::State::TooLong);
    EXPECT_EQ(read("fffffffffffffff\r\n", piece), BodyReader::State::TooLong);
    EXPECT_EQ(read(extensions, piece), BodyReader::State::TooMuchAround);
    EXPECT_EQ(read("0\r\n" + trailers, piece), BodyReader::State::TooMuchAround);
    EXPECT_EQ(read("1;" + std::string(30, 'a'), piece), BodyReader::State::TooMuchAround);
  }
}

TEST(BodyReader, EndsWithTheLength) {
  RequestHead head;
  head.body_end = BodyEnd::Length;
  head.length = 3;
  BodyReader reader(head, {});
  std::string_view bytes = "abcd";
  EXPECT_EQ(reader.take(bytes), BodyReader::State::Done);
  EXPECT_EQ(reader.body(), "abc");
  EXPECT_EQ(bytes, "d");
  EXPECT_EQ(BodyReader(head, {.body_bytes = 2}).state(), BodyReader::State::TooLong);
}

} // namespace
} // namespace winnow::harness
