// SPDX-License-Identifier: MIT
#include "failure.h"

#include <cerrno>

#include <sys/eventfd.h>

#include "base/error.h"
#include "base/sentence.h"

namespace monitor::record {

Failure::Failure() : fd_(::eventfd(0, EFD_CLOEXEC))
{
	if (!fd_)
		throw Error(errno, "cannot watch the recorder's threads");
}

void Failure::report(const std::exception &error)
{
	report("{}", sentence_of(error));
}

void Failure::publish()
{
	reported_.store(true, std::memory_order_release);
	::eventfd_write(fd_.get(), 1);
}

} // namespace monitor::record
