// SPDX-License-Identifier: MIT
// The directory of keys that `monitor fleet init` makes for one host, or for the operator, as it is used.
//
//     ca.pem  the authority       hub   the hub's address, one line; of a cluster, those of all, with commas
//     me.pem, me.key              the certificate that says who this is, and its key
//     operator.pub                verifies commands            operator.key  signs them: the operator's directory only
//     hosts                       all hosts, one a line: the operator's directory only
//
// Written by fleet/keys/, read by the agent before it gives up its privileges, and by `monitor fleet`.
#pragma once

#include <string>
#include <vector>

#include "fleet/wire/connection.h"
#include "fleet/wire/keys.h"

namespace monitor::fleet {

inline constexpr const char *ca_file = "ca.pem", *certificate_file = "me.pem", *certificate_key_file = "me.key",
			    *hub_file = "hub", *operator_public_file = "operator.pub",
			    *operator_key_file = "operator.key", *hosts_file = "hosts";
// The user that the hub knows the operator and the collector as; no host can have this name.
inline constexpr const char *operator_name = "fleet_operator";

struct FleetKeys {
	std::string directory;
	std::string name; // in the certificate
	std::string hub;  // of the file; "" if there is none
	std::string ca_pem, certificate_pem, key_pem;
	PublicKey operator_key;

	// As they are for a connection to `hub`, or to that of the file if it is "". Throws Error if there is neither.
	ConnectionOptions connection(const std::string &to_hub) const;
};

// Throws Error, also if others may read the private key.
FleetKeys read_fleet_keys(const std::string &directory);

// Of the operator's directory. Throws Error.
std::vector<std::string> read_hosts(const std::string &directory);

} // namespace monitor::fleet
