// SPDX-License-Identifier: MIT
// The error message for an exception, also for those of the C++ library. For main() and the top of a thread. Allocates
// nothing.
#pragma once

#include <exception>
#include <new>
#include <system_error>
#include <typeinfo>

namespace monitor {

inline const char *sentence_of(const std::exception &error)
{
	if (dynamic_cast<const std::bad_alloc *>(&error))
		return "out of memory: end other programs, or raise the limit of this one (ulimit -v, memory.max of "
		       "its cgroup)";
	// EAGAIN: a thread could not be created. Errors of output say so themselves.
	const auto *failed =
	    typeid(error) == typeid(std::system_error) ? dynamic_cast<const std::system_error *>(&error) : nullptr;
	if (failed && failed->code() == std::errc::resource_unavailable_try_again)
		return "cannot start another thread: raise the limits of threads and memory (ulimit -u, ulimit -v, "
		       "pids.max of the cgroup)";
	return error.what();
}

} // namespace monitor
