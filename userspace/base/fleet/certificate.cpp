// SPDX-License-Identifier: MIT
#include "certificate.h"

#include <memory>

#include <fmt/format.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/error.h"
#include "base/escape.h"

namespace monitor::fleet {

std::vector<std::string> dns_names_of(const std::string &pem, const std::string &where)
{
	const std::unique_ptr<BIO, decltype(&::BIO_free_all)> bio(
	    ::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), ::BIO_free_all);
	const std::unique_ptr<X509, decltype(&::X509_free)> certificate(
	    ::PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), ::X509_free);
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

} // namespace monitor::fleet
