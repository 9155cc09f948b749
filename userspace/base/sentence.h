// SPDX-License-Identifier: MIT
// An exception as the sentence that a user reads; those of the C++ library itself have none. Used where exceptions end:
// in tools/monitor/main.cpp and in the recorder's threads. Allocates nothing.
#pragma once

#include <exception>
#include <new>
#include <system_error>
#include <typeinfo>

namespace monitor {

inline const char *sentence_of(const std::exception &error)
{
	if (dynamic_cast<const std::bad_alloc *>(&error))
		return "out of memory: end other programs, or raise the limit that this one has (ulimit -v, memory.max "
		       "of its "
		       "cgroup)";
	if (typeid(error) == typeid(std::system_error)) // thrown where a thread cannot be made
		return "cannot start another thread: raise the limits of threads and memory (ulimit -u, ulimit -v, "
		       "pids.max "
		       "of the cgroup)";
	return error.what();
}

} // namespace monitor
