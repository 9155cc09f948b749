// SPDX-License-Identifier: MIT
#include "fleet_keys.h"

#include <cerrno>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "certificate.h"
#include "fleet/wire/names.h"

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
		throw Error(fmt::format("{} can be changed by others, who could give commands to this host: it must "
					"belong to root or to you, and chmod go-w {}",
					printable(path), printable(path)));
}

std::string first_line(const std::string &text)
{
	return text.substr(0, text.find('\n'));
}

} // namespace

ConnectionOptions FleetKeys::connection(const std::string &to_hub) const
{
	ConnectionOptions options;
	options.hub = to_hub.empty() ? hub : to_hub;
	if (options.hub.empty())
		throw Error(
		    fmt::format("{} does not say where the hub is: add --hub tls://HUB:PORT", printable(directory)));
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
	const std::vector<std::string> names = dns_names_of(certificate, path(certificate_file));
	if (names.size() != 1 || (names[0] != operator_name && !is_host_name(names[0])))
		throw Error(fmt::format("{} is not a certificate of a host or of the operator: use one that `monitor "
					"fleet init` wrote",
					printable(path(certificate_file))));
	std::string key = read_private_file(path(certificate_key_file));
	expect_key_of(certificate, key, path(certificate_key_file));
	return {directory,
		names[0],
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
			throw Error(fmt::format("{}/{}: '{}' is not the name of a host", printable(directory),
						hosts_file, printable(host.substr(0, 80))));
		hosts.push_back(host);
	}
	return hosts;
}

} // namespace monitor::fleet
