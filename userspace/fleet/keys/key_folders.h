// SPDX-License-Identifier: MIT
// Folders and files of a fleet's directory that are written once: keys and certificates. All throw Error.
// Invariant: no existing file is overwritten.
#pragma once

#include <string>

#include "authority.h"

namespace monitor::fleet {

inline constexpr unsigned secret_mode = 0600, public_mode = 0644;

void make_folder(const std::string &path);
void write_new(const std::string &path, const std::string &text, unsigned mode);
// FOLDER/NAME.pem and .key.
void write_certificate(const std::string &folder, const std::string &name, const Certificate &certificate);
// Keys of a host or of the operator, as fleet/keys/fleet_keys.h reads them. `hubs`: in the order in which they are
// tried.
void write_keys(const std::string &folder, const Certificate &own, const std::string &ca_pem,
		const std::string &operator_pem, const std::string &hubs);

} // namespace monitor::fleet
