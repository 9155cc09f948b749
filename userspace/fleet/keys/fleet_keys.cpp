// SPDX-License-Identifier: MIT
#include "fleet_keys.h"

#include <cerrno>
#include <memory>
#include <sstream>
#include <utility>

#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "fleet/wire/names.h"
#include "fleet/wire/pem.h"

namespace monitor::fleet {
namespace {

constexpr std::size_t max_hub_bytes = 4096, max_hosts_bytes = 4 << 20;

// Whoever can write these files controls this host.
void expect_only_ours(const std::string &path)
{
	struct stat status;
	if (::stat(path.c_str(), &status) < 0)
		throw Error(errno, "cannot read " + path);
	if ((status.st_uid != 0 && status.st_uid != ::geteuid()) || (status.st_mode & 022))
		throw Error("{} can be changed by others, who could give commands to this host: it must belong to root "
			    "or to you, and chmod go-w {}",
			    printable(path), printable(path));
}

std::string first_line(const std::string &text)
{
	return text.substr(0, text.find('\n'));
}

using CertificatePointer = std::unique_ptr<X509, decltype(&::X509_free)>;

// Null if it is not a certificate.
CertificatePointer parse_certificate(const std::string &pem)
{
	return {::PEM_read_bio_X509(pem_reader(pem).get(), nullptr, nullptr, nullptr), ::X509_free};
}

// The DNS names among the subject's alternative names. `where` is for messages. Throws Error if it is not a
// certificate.
std::vector<std::string> dns_names_of(const std::string &pem, const std::string &where)
{
	const CertificatePointer certificate = parse_certificate(pem);
	if (!certificate)
		throw Error("{} has no certificate: use a file that `monitor fleet init` wrote", printable(where));
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

// Of the host or the operator. `where` is for messages. Throws Error if it is neither's certificate.
std::string name_of(const std::string &pem, const std::string &where)
{
	const std::vector<std::string> names = dns_names_of(pem, where);
	if (names.size() != 1 || (names[0] != operator_name && !is_host_name(names[0])))
		throw Error(
		    "{} is not a certificate of a host or of the operator: use one that `monitor fleet init` wrote",
		    printable(where));
	return names[0];
}

// Throws Error unless the two belong together. `where` is the key's file.
void expect_key_of(const std::string &certificate_pem, const std::string &key_pem, const std::string &where)
{
	const std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)> key(
	    ::PEM_read_bio_PrivateKey(pem_reader(key_pem).get(), nullptr, no_passphrase, nullptr), ::EVP_PKEY_free);
	const CertificatePointer certificate = parse_certificate(certificate_pem);
	if (!certificate || !key || ::X509_check_private_key(certificate.get(), key.get()) != 1)
		throw Error("{} is not the key of the certificate beside it: copy both from one directory of `monitor "
			    "fleet init`",
			    printable(where));
}

} // namespace

ConnectionOptions FleetKeys::connection(const std::string &to_hub) const
{
	ConnectionOptions options;
	options.hub = to_hub.empty() ? hub : to_hub;
	if (options.hub.empty())
		throw Error("{} does not say where the hub is: add --hub tls://HUB:PORT", printable(directory));
	options.ca_pem = ca_pem;
	options.certificate_pem = certificate_pem;
	options.key_pem = key_pem;
	options.name = name;
	return options;
}

FleetKeys read_fleet_keys(const std::string &directory)
{
	const auto path = [&](const char *file) { return directory + '/' + file; };
	const auto text = [&](const char *file) { return read_file(path(file), max_key_file_bytes); };
	expect_only_ours(directory);
	expect_only_ours(path(operator_public_file));
	std::string certificate = text(certificate_file);
	const std::string name = name_of(certificate, path(certificate_file));
	std::string key = read_private_file(path(certificate_key_file));
	expect_key_of(certificate, key, path(certificate_key_file));
	return {directory,
		name,
		first_line(read_text(path(hub_file), max_hub_bytes)),
		text(ca_file),
		std::move(certificate),
		std::move(key),
		PublicKey::read(path(operator_public_file))};
}

std::vector<std::string> read_hosts(const std::string &directory)
{
	std::istringstream lines(read_file(directory + '/' + hosts_file, max_hosts_bytes));
	std::vector<std::string> hosts;
	for (std::string host; lines >> host;) {
		if (!is_host_name(host))
			throw Error("{}/{}: '{}' is not the name of a host", printable(directory), hosts_file,
				    printable(host.substr(0, 80)));
		hosts.push_back(host);
	}
	return hosts;
}

} // namespace monitor::fleet
