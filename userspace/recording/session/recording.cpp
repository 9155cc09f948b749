// SPDX-License-Identifier: MIT
#include "recording.h"

#include <utility>

#include "base/memory_bound.h"
#include "session.h"

namespace monitor::record {

Recording::Recording(Options options, Listener listener)
    : session_(std::make_unique<Session>(std::move(options), std::move(listener)))
{
	set_memory_bound(0); // it reads its own tokens, all of them
}

Recording::~Recording() = default;

void Recording::start()
{
	session_->start();
}

Result Recording::wait()
{
	return session_->wait();
}

void Recording::stop(const std::string &reason)
{
	session_->stop(reason);
}

std::map<std::uint64_t, std::string> Recording::cgroups() const
{
	return session_->cgroups();
}

} // namespace monitor::record
