// SPDX-License-Identifier: MIT
// The sockets through which instrumented programs find their recorder, and the answer to one of them. The messages are
// in include/monitor/user_ring.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/fd.h"
#include "monitor/user_ring.h"

namespace monitor::card {

// Listens at an abstract name (unix(7)), for the children of the recorder. Throws Error.
Fd listen_on(const std::string &name);

// The process that listens at EDC_SOCKET_PATH; 0 if none.
pid_t recorder_of_all_programs();

// Listens there, for every process of the machine; one recorder at a time. Needs root. Throws Error.
Fd listen_for_everyone();

// `memory` -1: none. A peer that does not accept it gets none.
void send_answer(int fd, const edc_welcome &welcome, const std::vector<std::uint16_t> &ids, int memory);

} // namespace monitor::card
