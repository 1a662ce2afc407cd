#include "remote/testing/certificates_fake.h"

#include "base/error.h"
#include "process/child_process.h"

#include <utility>
#include <vector>

namespace winnow::remote::test {
namespace {

constexpr const char* kOpenssl = "/usr/bin/openssl";

void openssl(std::vector<std::string> arguments) {
  process::Command command;
  command.argv = {kOpenssl};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.limits.wall = std::chrono::seconds(60);
  const process::ChildResult result = process::run_child(command, "");
  if (result.end != process::ChildResult::End::Exited || result.exit_code != 0) {
    throw Error("openssl: " + process::describe(result) + ": " + result.err);
  }
}

/// `openssl req` with a new key.
std::vector<std::string> request(const std::string& key, const std::string& out) {
  return {"req",    "-newkey", "ec",         "-pkeyopt", "ec_paramgen_curve:prime256v1",
          "-nodes", "-subj",   "/CN=winnow", "-keyout",  key,
          "-out",   out};
}

} // namespace

std::string CertificatesFake::why_not() {
  return is_file(kOpenssl) ? "" : std::string(kOpenssl) + " is not installed";
}

CertificatesFake::CertificatesFake() {
  std::vector<std::string> arguments = request(path("ca.key"), path("ca.pem"));
  arguments.insert(arguments.end(), {"-x509", "-days", "2"});
  openssl(std::move(arguments));
}

std::string CertificatesFake::ca() const {
  return path("ca.pem");
}

CertificatesFake::Pair CertificatesFake::issue(const std::string& file_name,
                                               const std::string& names) const {
  const std::string certificate = path(file_name + ".pem"), key = path(file_name + ".key");
  const std::string wish = path(file_name + ".csr"), extensions = path(file_name + ".ext");
  openssl(request(key, wish));
  write_file_atomic(extensions, "subjectAltName=" + names + "\n");
  openssl({"x509", "-req", "-in", wish, "-CA", ca(), "-CAkey", path("ca.key"), "-CAcreateserial",
           "-days", "2", "-extfile", extensions, "-out", certificate});
  return {certificate, key};
}

} // namespace winnow::remote::test
