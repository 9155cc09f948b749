// SPDX-License-Identifier: MIT
#include "causes.h"

namespace monitor::path {
namespace {

// Limits, as requests that were merged into others never complete.
constexpr std::size_t max_waiting = 1 << 16, max_flushes = 256;

} // namespace

void Requests::start(std::uint32_t device, std::uint64_t sector, bool is_flush, const Request &request)
{
	if (waiting_.size() >= max_waiting)
		clear();
	std::vector<Request> &same = waiting_[{device, sector}];
	if (!is_flush)
		same.clear();
	else if (same.size() == max_flushes)
		same.erase(same.begin());
	same.push_back(request);
}

void Requests::issue(std::uint32_t device, std::uint64_t sector, std::uint64_t time)
{
	if (!waiting_.contains({device, sector}))
		start(device, sector, false, {time, nobody});
}

Requests::Request Requests::complete(std::uint32_t device, std::uint64_t sector)
{
	const auto found = waiting_.find({device, sector});
	if (found == waiting_.end())
		return {};
	const Request request = found->second.front();
	found->second.erase(found->second.begin());
	if (found->second.empty())
		waiting_.erase(found);
	return request;
}

void Raised::add(const Raised &other)
{
	if (by == By::nobody)
		*this = other;
	else if (by != other.by || who != other.who)
		by = By::several;
}

} // namespace monitor::path
