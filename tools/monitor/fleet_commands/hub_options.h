// SPDX-License-Identifier: MIT
// The hub's address and this client's credentials: a directory of keys made by `monitor fleet init`, or certificates of
// another CA.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "common_options.h"
#include "fleet/keys/fleet_keys.h"
#include "fleet/wire/connection.h"

namespace monitor {

struct HubArguments {
	std::string keys;
	fleet::ConnectionOptions files; // without --keys

	// Sets the name in the certificate, if there are keys. Throws Error.
	fleet::ConnectionOptions connection(std::string &name_of_keys) const
	{
		const bool has_files = !(files.ca_file + files.certificate_file + files.key_file).empty();
		if (keys.empty() && files.hub.empty())
			throw Error(
			    "where is the hub: add --keys DIR of those that `monitor fleet init` made, or --hub");
		if (keys.empty())
			return files;
		if (has_files)
			throw Error("--keys has certificate and key: leave out --ca, --cert and --key");
		const fleet::FleetKeys read = fleet::read_fleet_keys(keys);
		name_of_keys = read.name;
		fleet::ConnectionOptions options = read.connection(files.hub);
		options.expected_host = files.expected_host;
		return options;
	}
};

inline void add_hub_options(CLI::App &command, HubArguments &hub)
{
	add_option(command, "--keys", "DIR", hub.keys, "a directory of those that `monitor fleet init` made");
	add_option(command, "--hub", "tls://HUB[:PORT],...", hub.files.hub,
		   "address of the hub, a NATS server (default: as the keys say)");
	add_option(command, "--ca", "FILE", hub.files.ca_file,
		   "without --keys: certificate of the authority of the hub's (PEM)");
	add_option(command, "--cert", "FILE", hub.files.certificate_file,
		   "without --keys: certificate that says who this is (PEM)");
	add_option(command, "--key", "FILE", hub.files.key_file,
		   "without --keys: private key of that certificate (PEM)");
	add_option(command, "--hub-name", "NAME", hub.files.expected_host,
		   "name in the hub's certificate (default: that of the address)");
}

} // namespace monitor
