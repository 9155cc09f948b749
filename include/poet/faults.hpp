// SPDX-License-Identifier: MIT
// Files that shrink while they are read, and the signal that this raises.
//
// POET maps the files of a trace. A read past the point where a mapped file was truncated, or where its disk fails,
// raises SIGBUS. POET installs a handler when it maps the first file: the rest of that file then reads as zeros and the
// trace has a problem (Trace::problems()); nothing else happens. Every other SIGBUS is passed to the handler installed
// before. A program that does not want the handler calls leave_sigbus() before it opens the first trace, and may call
// survive_fault() in its own handler.
#pragma once

#include "export.hpp"

namespace poet {

// From now on POET does not install a handler for SIGBUS.
POET_API void leave_sigbus();
// For a SIGBUS handler: whether this address (siginfo_t::si_addr) belongs to a file that POET reads. If it does, the
// handler returns, and reading continues. Safe to call in a signal handler.
POET_API bool survive_fault(const void *address) noexcept;

} // namespace poet
