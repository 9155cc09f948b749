// SPDX-License-Identifier: MIT
// Files that become shorter while they are read, and the signal that this raises.
//
// POET maps the files of a trace. Reading where a mapped file was cut off, or where its disk fails, raises SIGBUS. POET
// installs a handler for it when it maps the first file: the rest of that file reads as zeros, the trace has a problem
// (Trace::problems()), nothing else happens. Every other SIGBUS goes to the handler that was there before. A program
// that wants no handler installed says so before it opens the first trace, and may call survive_fault() in its own.
#pragma once

#include "export.hpp"

namespace poet {

// From now on POET installs no handler for SIGBUS.
POET_API void leave_sigbus();
// For a handler of SIGBUS: whether this address (siginfo_t::si_addr) is of a file that POET reads. If it is, the
// handler returns, and reading goes on. Safe to call in a handler.
POET_API bool survive_fault(const void *address) noexcept;

} // namespace poet
