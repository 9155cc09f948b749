// SPDX-License-Identifier: MIT
#include "certificate.h"

#include <memory>

#include <fmt/format.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/error.h"
#include "base/escape.h"

namespace monitor::fleet {
namespace {

using CertificatePointer = std::unique_ptr<X509, decltype(&::X509_free)>;

// Null if it is none.
CertificatePointer parse_certificate(const std::string &pem)
{
	const std::unique_ptr<BIO, decltype(&::BIO_free_all)> bio(
	    ::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), ::BIO_free_all);
	return {::PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), ::X509_free};
}

int never_ask_passphrase(char *, int, int, void *)
{
	return -1;
}

} // namespace

std::vector<std::string> dns_names_of(const std::string &pem, const std::string &where)
{
	const CertificatePointer certificate = parse_certificate(pem);
	if (!certificate)
		throw Error(
		    fmt::format("{} has no certificate: use a file that `monitor fleet init` wrote", printable(where)));
	const std::unique_ptr<GENERAL_NAMES, decltype(&::GENERAL_NAMES_free)> names(
	    static_cast<GENERAL_NAMES *>(::X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr)),
	    ::GENERAL_NAMES_free);
	std::vector<std::string> found;
	for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) { // -1 without names
		const GENERAL_NAME *const name = sk_GENERAL_NAME_value(names.get(), i);
		if (name->type != GEN_DNS)
			continue;
		const unsigned char *const text = ::ASN1_STRING_get0_data(name->d.dNSName);
		found.emplace_back(reinterpret_cast<const char *>(text),
				   static_cast<std::size_t>(::ASN1_STRING_length(name->d.dNSName)));
	}
	return found;
}

void expect_key_of(const std::string &certificate_pem, const std::string &key_pem, const std::string &where)
{
	const std::unique_ptr<BIO, decltype(&::BIO_free_all)> bio(
	    ::BIO_new_mem_buf(key_pem.data(), static_cast<int>(key_pem.size())), ::BIO_free_all);
	const std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)> key(
	    ::PEM_read_bio_PrivateKey(bio.get(), nullptr, never_ask_passphrase, nullptr), ::EVP_PKEY_free);
	const CertificatePointer certificate = parse_certificate(certificate_pem);
	if (!certificate || !key || ::X509_check_private_key(certificate.get(), key.get()) != 1)
		throw Error(
		    fmt::format("{} is not the key of the certificate beside it: copy both from one directory of "
				"`monitor fleet init`",
				printable(where)));
}

} // namespace monitor::fleet
