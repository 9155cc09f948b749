// SPDX-License-Identifier: MIT
// Options of every command that connects to a fleet's hub.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "base/fleet/connection.h"

namespace monitor {

inline void add_hub_options(CLI::App &command, fleet::ConnectionOptions &hub)
{
	command.add_option("--hub", hub.hub, "address of the hub, a NATS server")
	    ->required()
	    ->option_text("tls://HUB[:PORT]");
	command.add_option("--ca", hub.ca_file, "certificate of the authority that signed the hub's (PEM)")
	    ->option_text("FILE");
	command.add_option("--cert", hub.certificate_file, "certificate that says who this is (PEM)")
	    ->option_text("FILE");
	command.add_option("--key", hub.key_file, "private key of that certificate (PEM)")->option_text("FILE");
	command
	    .add_option("--hub-name", hub.expected_host, "name in the hub's certificate (default: that of the address)")
	    ->option_text("NAME");
}

} // namespace monitor
