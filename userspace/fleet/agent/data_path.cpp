// SPDX-License-Identifier: MIT
#include "data_path.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/clock_ns.h"
#include "base/own_cpu_time.h"
#include "base/sentence.h"
#include "base/tsc.h"
#include "fleet/forward/trace_parts.h"
#include "recording/card/preflight_checks.h"

namespace monitor::agent {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_announced = 1000;
constexpr auto spool_step_interval = 1s, problem_interval = 10s;
constexpr auto until_announced = 3s; // how long a new directory counts as running

} // namespace

DataPath::DataPath(const fleet::ConnectionOptions &hub, const std::string &host, const SpoolSettings &settings,
		   RunningRuns running, std::function<void(const std::string &)> report)
    : report_(std::move(report)), runs_(settings.runs), forward_(settings.forward), running_(std::move(running)),
      announced_(running_), forwarder_(hub, host, report_), forwarding_(forwarder_, report_),
      spool_(
	  settings.runs, settings.max_bytes, forwarding_, [this](const std::string &run) { return is_running(run); },
	  report_, [this](const std::string &run) { return forward_of(run); }),
      is_tsc_(card::has_invariant_tsc()), clock_(hub, host, is_tsc_, report_),
      thread_([this](const std::stop_token &stop) { step_until(stop); })
{
}

DataPath::~DataPath()
{
	thread_.request_stop();
	forwarder_.wake();
	thread_.join();
}

void DataPath::set_running(RunningRuns running)
{
	{
		const std::lock_guard lock(mutex_);
		note_announced(running);
		running_ = std::move(running);
	}
	step_spool_now_ = true; // a run has started or ended: look at once
	forwarder_.wake();
}

bool DataPath::is_running(const std::string &run)
{
	const std::lock_guard lock(mutex_);
	if (running_.contains(run)) {
		first_seen_.erase(run);
		return true;
	}
	if (announced_.contains(run))
		return false; // it has ended
	const auto [seen, is_first] = first_seen_.try_emplace(run, Clock::now());
	return Clock::now() - seen->second < until_announced;
}

void DataPath::note_announced(const RunningRuns &running)
{
	if (announced_.size() >= max_announced)
		announced_ = running_;
	for (const auto &[run, forward] : running)
		announced_.insert_or_assign(run, forward);
}

fleet::Forward DataPath::forward_of(const std::string &run) const
{
	const std::lock_guard lock(mutex_);
	const auto found = announced_.find(run);
	return found == announced_.end() ? forward_ : found->second.value_or(forward_);
}

std::vector<fleet::CommandAnswer::Trace> DataPath::fetch(fleet::FetchRequest request)
{
	request.received_ticks = is_tsc_ ? read_tsc() : clock_ns(CLOCK_MONOTONIC);
	forwarding_.fetch(request);
	forwarder_.wake();
	std::vector<fleet::CommandAnswer::Trace> traces;
	for (const fleet::TracePart &part : fleet::trace_parts(runs_ + '/' + request.run))
		traces.push_back({part.part, !is_running(request.run) || fleet::trace_has_ended(part.directory)});
	return traces;
}

std::vector<fleet::Presence::Kept> DataPath::kept() const
{
	std::vector<fleet::Presence::Kept> all;
	for (const fleet::KeptTrace &trace : forwarding_.kept())
		all.push_back({trace.run, trace.bytes, trace.blocks, trace.stored, trace.span ? trace.span->first : 0,
			       trace.span ? trace.span->second : 0, trace.has_ended});
	if (all.size() > fleet::max_kept_shown) // the newest
		all.erase(all.begin(), all.end() - fleet::max_kept_shown);
	return all;
}

void DataPath::fill_presence(fleet::Presence &presence) const
{
	presence.session = fmt::format("{:016x}", forwarding_.session());
	presence.unsent_blocks = presence.kept_blocks = 0;
	for (const fleet::ForwardingAccount &account : forwarding_.accounts()) {
		presence.unsent_blocks += account.recorded - std::min(account.recorded, account.stored + account.kept);
		presence.kept_blocks += account.kept;
	}
	const fleet::SentSums sent = forwarding_.sent();
	presence.cpu_ns = own_cpu_time_ns();
	presence.sent_bytes = sent.bytes;
	presence.sent_messages = sent.messages;
	const std::lock_guard lock(mutex_);
	presence.spool_bytes = account_.bytes;
	presence.lost_blocks = account_.dropped_blocks;
}

void DataPath::step_until(const std::stop_token &stop)
{
	Clock::time_point next{}, reported{};
	while (!stop.stop_requested()) {
		try {
			if (step_spool_now_.exchange(false) || Clock::now() >= next) {
				next = Clock::now() + spool_step_interval;
				spool_.step();
				const std::lock_guard lock(mutex_);
				account_ = spool_.account();
			}
			forwarding_.step(next);
		} catch (const std::exception &error) { // a disk that is full now may have space later
			if (Clock::now() - reported > problem_interval)
				report_(sentence_of(error));
			reported = Clock::now();
			std::this_thread::sleep_for(100ms);
		}
	}
	try {
		forwarding_.save();
	} catch (const std::exception &error) {
		report_(sentence_of(error));
	}
}

} // namespace monitor::agent
