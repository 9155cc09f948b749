// SPDX-License-Identifier: MIT
// Reads the directory of keys of one host, or of the operator.
// ca.pem  the authority       hub   the hub's address, one line; of a cluster, those of all, with commas
// me.pem, me.key              the certificate that says who this is, and its key
// operator.pub                verifies commands            operator.key  signs them: the operator's directory only
// hosts                       all hosts, one a line: the operator's directory only
#pragma once

#include <string>
#include <vector>

#include "fleet/wire/connection.h"
#include "fleet/wire/keys.h"

namespace monitor::fleet {

inline constexpr const char *ca_file = "ca.pem", *certificate_file = "me.pem", *certificate_key_file = "me.key",
			    *hub_file = "hub", *operator_public_file = "operator.pub",
			    *operator_key_file = "operator.key", *hosts_file = "hosts";
// The user name of operator and collector at the hub; no host can have it.
inline constexpr const char *operator_name = "fleet_operator";

struct FleetKeys {
	std::string directory;
	std::string name; // in the certificate
	std::string hub;  // of the file; "" if there is none
	std::string ca_pem, certificate_pem, key_pem;
	PublicKey operator_key;

	// Options for a connection to `to_hub`, or, if it is "", to the hub in the file. Throws Error if there is
	// neither.
	ConnectionOptions connection(const std::string &to_hub) const;
};

// Throws Error, also if others may read the private key.
FleetKeys read_fleet_keys(const std::string &directory);

// From the operator's directory. Throws Error.
std::vector<std::string> read_hosts(const std::string &directory);

} // namespace monitor::fleet
