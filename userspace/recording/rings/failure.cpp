// SPDX-License-Identifier: MIT
#include "failure.h"

#include <cerrno>

#include <sys/eventfd.h>

#include "base/error.h"

namespace monitor::record {

Failure::Failure() : fd_(::eventfd(0, EFD_CLOEXEC))
{
	if (!fd_)
		throw Error(errno, "cannot watch the recorder's threads");
}

void Failure::report_formatted(fmt::string_view sentence, fmt::format_args arguments)
{
	if (claimed_.exchange(true))
		return;
	*fmt::vformat_to_n(text_.data(), text_.size() - 1, sentence, arguments).out = '\0';
	reported_.store(true, std::memory_order_release);
	::eventfd_write(fd_.get(), 1);
}

} // namespace monitor::record
