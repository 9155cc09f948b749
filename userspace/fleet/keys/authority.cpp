// SPDX-License-Identifier: MIT
#include "authority.h"

#include <array>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "base/error.h"
#include "base/escape.h"
#include "fleet/wire/pem.h"

namespace monitor::fleet {
namespace {

using KeyPointer = std::shared_ptr<EVP_PKEY>;
using X509Pointer = std::shared_ptr<X509>;

constexpr long valid_days = 3650;        // the hub removes hosts by name, not by expiry
constexpr long before_now_s = 24 * 3600; // a host's clock may be slow

void expect(bool holds, const char *what)
{
	if (!holds)
		throw Error("libcrypto cannot {}", what);
}

KeyPointer make_key()
{
	KeyPointer key(::EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"), ::EVP_PKEY_free);
	expect(key != nullptr, "make a key");
	return key;
}

std::string pem_of(EVP_PKEY *key)
{
	return pem_by(
	    [&](BIO *bio) { return ::PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr); });
}

std::string pem_of(X509 *certificate)
{
	return pem_by([&](BIO *bio) { return ::PEM_write_bio_X509(bio, certificate); });
}

void set_serial(X509 *certificate)
{
	std::array<unsigned char, 16> bytes;
	expect(::RAND_bytes(bytes.data(), bytes.size()) == 1, "make random numbers");
	bytes[0] &= 0x7f; // so that the serial number is positive
	const std::unique_ptr<BIGNUM, decltype(&::BN_free)> number(::BN_bin2bn(bytes.data(), bytes.size(), nullptr),
								   ::BN_free);
	expect(number && ::BN_to_ASN1_INTEGER(number.get(), ::X509_get_serialNumber(certificate)),
	       "number a certificate");
}

void set_name(X509_NAME *subject, const std::string &name)
{
	expect(::X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
					    reinterpret_cast<const unsigned char *>(name.data()),
					    static_cast<int>(name.size()), -1, 0) == 1,
	       "name a certificate");
}

// `value` in the language of x509v3_config(5). Names in it were validated.
void add_extension(X509 *certificate, X509 *issuer, int what, const std::string &value)
{
	X509V3_CTX context;
	X509V3_set_ctx_nodb(&context);
	::X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
	const std::unique_ptr<X509_EXTENSION, decltype(&::X509_EXTENSION_free)> extension(
	    ::X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str()), ::X509_EXTENSION_free);
	expect(extension && ::X509_add_ext(certificate, extension.get(), -1) == 1, "add an extension to a certificate");
}

// All but extensions and the signature. `issuer` null: self-signed.
X509Pointer make_certificate(const std::string &name, EVP_PKEY *key, X509 *issuer)
{
	X509Pointer made(::X509_new(), ::X509_free);
	expect(made != nullptr, "make a certificate");
	X509 *const certificate = made.get();
	expect(::X509_set_version(certificate, X509_VERSION_3) == 1, "make a certificate");
	set_serial(certificate);
	set_name(::X509_get_subject_name(certificate), name);
	expect(::X509_set_issuer_name(certificate, ::X509_get_subject_name(issuer ? issuer : certificate)) == 1 &&
		   ::X509_gmtime_adj(::X509_getm_notBefore(certificate), -before_now_s) &&
		   ::X509_time_adj_ex(::X509_getm_notAfter(certificate), valid_days, 0, nullptr) &&
		   ::X509_set_pubkey(certificate, key) == 1,
	       "make a certificate");
	return made;
}

bool is_address(const std::string &text)
{
	std::array<unsigned char, 16> bytes;
	return ::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
	       ::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

// The client looks for an address among DNS names, others among IP addresses.
std::string server_names(const std::string &name)
{
	return is_address(name) ? fmt::format("DNS:{},IP:{}", name, name) : "DNS:" + name;
}

} // namespace

Authority::Authority() : key_(make_key()), certificate_(make_certificate("monitor fleet", key_.get(), nullptr))
{
	X509 *const certificate = certificate_.get();
	add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
	add_extension(certificate, certificate, NID_key_usage, "critical,keyCertSign");
	add_extension(certificate, certificate, NID_subject_key_identifier, "hash");
	expect(::X509_sign(certificate, key_.get(), ::EVP_sha256()) > 0, "sign a certificate");
}

Authority::Authority(const Certificate &pem, const std::string &where)
{
	certificate_ = {::PEM_read_bio_X509(pem_reader(pem.certificate).get(), nullptr, nullptr, nullptr), ::X509_free};
	key_ = {::PEM_read_bio_PrivateKey(pem_reader(pem.key).get(), nullptr, no_passphrase, nullptr), ::EVP_PKEY_free};
	if (!certificate_ || !key_ || ::X509_check_private_key(certificate_.get(), key_.get()) != 1)
		throw Error("{} does not have the authority's certificate and key: use the directory that `monitor "
			    "fleet init` made",
			    printable(where));
}

Certificate Authority::pem() const
{
	return {pem_of(certificate_.get()), pem_of(key_.get())};
}

Certificate Authority::issue(const std::string &name, const std::string &alternatives, const char *usage) const
{
	const KeyPointer key = make_key();
	const X509Pointer made = make_certificate(name, key.get(), certificate_.get());
	add_extension(made.get(), certificate_.get(), NID_basic_constraints, "critical,CA:FALSE");
	add_extension(made.get(), certificate_.get(), NID_key_usage, "critical,digitalSignature");
	add_extension(made.get(), certificate_.get(), NID_ext_key_usage, usage);
	add_extension(made.get(), certificate_.get(), NID_subject_alt_name, alternatives);
	add_extension(made.get(), certificate_.get(), NID_authority_key_identifier, "keyid");
	expect(::X509_sign(made.get(), key_.get(), ::EVP_sha256()) > 0, "sign a certificate");
	return {pem_of(made.get()), pem_of(key.get())};
}

Certificate Authority::client(const std::string &name) const
{
	return issue(name, "DNS:" + name, "clientAuth");
}

Certificate Authority::server(const std::string &name) const
{
	return issue(name, server_names(name), "serverAuth");
}

Certificate Authority::peer(const std::string &name) const
{
	return issue(name, server_names(name), "serverAuth,clientAuth");
}

} // namespace monitor::fleet
