// SPDX-License-Identifier: MIT
// Part of forwarding.h: traces that stay on the host, and requests for them.
#include "forwarding.h"

#include <algorithm>

namespace monitor::fleet {
namespace {

// How long a request is kept, as an agent that has just started finds its traces later.
constexpr auto request_interval = std::chrono::seconds(10);
constexpr std::size_t max_recent_requests = 256;

} // namespace

void Forwarding::fetch(const FetchRequest &request)
{
	const std::lock_guard lock(mutex_);
	const Time now = std::chrono::steady_clock::now();
	std::erase_if(recent_requests_, [&](const auto &each) { return now - each.second.second > request_interval; });
	if (recent_requests_.size() < max_recent_requests)
		recent_requests_.insert_or_assign(request.run, std::pair(request, now));
	for (const auto &tail : tails_)
		if (tail->name().run == request.run)
			apply_request(*tail, request);
	last_scan_ = {};
}

// Messages to another collector are useless for this request.
void Forwarding::apply_request(TraceTail &tail, const FetchRequest &request)
{
	if (request.store && tail.progress().store != request.store)
		forget(tail);
	store_changed_.erase(&tail);
	if (const auto state = states_.find(&tail); state != states_.end() && state->second.probe_at)
		state->second.probe_at = std::chrono::steady_clock::now();
	tail.fetch(request);
}

// Applies recent requests to a trace that was just found.
void Forwarding::apply_recent_request(TraceTail &tail, const std::string &run) const
{
	const auto recent = recent_requests_.find(run);
	if (recent != recent_requests_.end() &&
	    std::chrono::steady_clock::now() - recent->second.second < request_interval)
		tail.fetch(recent->second.first);
}

std::vector<KeptTrace> Forwarding::kept() const
{
	const std::lock_guard lock(mutex_);
	std::map<std::string, KeptTrace> runs;
	for (const auto &tail : tails_) {
		KeptTrace &run = runs[tail->name().run];
		run.run = tail->name().run;
		run.bytes += tail->bytes();
		run.blocks += tail->blocks();
		run.stored += std::min(tail->blocks(), tail->progress().stored_blocks());
		run.has_ended = run.has_ended && tail->has_ended();
		if (const auto span = tail->span())
			run.span = run.span ? FetchedTrace::Window{std::min(run.span->first, span->first),
								   std::max(run.span->second, span->second)}
					    : *span;
	}
	std::vector<KeptTrace> all;
	for (auto &[name, run] : runs)
		all.push_back(std::move(run));
	std::ranges::sort(all, {}, [](const KeptTrace &run) { return run.span ? run.span->second : 0; });
	return all;
}

} // namespace monitor::fleet
