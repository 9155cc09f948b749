// SPDX-License-Identifier: MIT
// The answer to the operator, from a flight recorder's reply. The recorder runs as the user of the traces, and the
// process that passes this on is privileged: the reply is untrusted.
// Invariant: any bytes give an answer of bounded size.
#pragma once

#include <cstdint>
#include <string_view>

#include "fleet/wire/reports.h"

namespace monitor::agent {

// Without nonce and run. `untrusted_reply` "": the recorder ended before it replied.
fleet::CommandAnswer snapshot_answer(std::string_view untrusted_reply, std::uint64_t issued_ns);

} // namespace monitor::agent
