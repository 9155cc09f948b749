// SPDX-License-Identifier: MIT
// What nats-server reads at the hub: who may connect, and which subjects are whose.
// Written by fleet_directory.cpp. Invariant: a host can send as itself only, and is the only one that gets its answers.
#pragma once

#include <string>
#include <vector>

#include "base/fleet/hub.h"

namespace monitor::fleet_setup {

// nats.conf; paths in it are relative to the directory that the server is started in.
std::string server_configuration(const fleet::HubAddress &hub);

// users.conf, which nats.conf includes and SIGHUP loads again. Users are the names in certificates.
std::string users_configuration(const std::vector<std::string> &hosts);

} // namespace monitor::fleet_setup
