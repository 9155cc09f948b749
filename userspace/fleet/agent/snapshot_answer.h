// SPDX-License-Identifier: MIT
// Converts a flight recorder's reply to an answer for the operator. The recorder runs as the owner of the traces, and
// this is the privileged process: the reply is untrusted. Invariant: any bytes give an answer of bounded size.
#pragma once

#include <cstdint>
#include <string_view>

#include "fleet/wire/reports.h"

namespace monitor::agent {

// All but nonce and run. `untrusted_reply` "": the recorder ended without a reply.
fleet::CommandAnswer snapshot_answer(std::string_view untrusted_reply, std::uint64_t issued_ns);

} // namespace monitor::agent
