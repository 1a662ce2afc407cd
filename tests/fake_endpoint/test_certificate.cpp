#include "tests/fake_endpoint/test_certificate.h"

#include <cstdio>
#include <memory>
#include <stdexcept>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace winnow::tests {
namespace {

constexpr long kOneDay = 86'400;

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using File = std::unique_ptr<std::FILE, decltype(&std::fclose)>;

void require(bool good) {
  if (!good) {
    throw std::runtime_error("OpenSSL cannot make a certificate for tests");
  }
}

Certificate self_signed(EVP_PKEY* key) {
  Certificate certificate(X509_new(), &X509_free);
  X509* x509 = certificate.get();
  require(x509 != nullptr && X509_set_version(x509, X509_VERSION_3) == 1);
  ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
  X509_gmtime_adj(X509_getm_notBefore(x509), -kOneDay);
  X509_gmtime_adj(X509_getm_notAfter(x509), kOneDay);
  X509_set_pubkey(x509, key);
  X509_NAME* name = X509_get_subject_name(x509);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("127.0.0.1"), -1, -1, 0);
  X509_set_issuer_name(x509, name);
  X509_EXTENSION* address =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1");
  require(address != nullptr && X509_add_ext(x509, address, -1) == 1);
  X509_EXTENSION_free(address);
  require(X509_sign(x509, key, EVP_sha256()) > 0);
  return certificate;
}

File create(const std::filesystem::path& path) {
  File file(std::fopen(path.c_str(), "w"), &std::fclose);
  require(file != nullptr);
  return file;
}

} // namespace

TestCertificate make_test_certificate(const std::filesystem::path& folder) {
  const Key key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  require(key != nullptr);
  const Certificate certificate = self_signed(key.get());
  TestCertificate paths{folder / "certificate.pem", folder / "key.pem"};
  require(PEM_write_X509(create(paths.certificate).get(), certificate.get()) == 1);
  require(PEM_write_PrivateKey(create(paths.key).get(), key.get(), nullptr, nullptr, 0, nullptr,
                               nullptr) == 1);
  return paths;
}

} // namespace winnow::tests
