// SPDX-License-Identifier: MIT
#include "story.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "timeline.h"

namespace monitor::view {

using analyze::Cpu;
using analyze::Mode;
using analyze::Thread;
using Json = nlohmann::ordered_json;

bool Story::is_ours(const Thread &thread) const
{
	return thread_ < fold_.threads().size() && &fold_.threads()[thread_] == &thread;
}

void Story::add(Interval row)
{
	if (rows_.size() < max_rows)
		rows_.push_back(std::move(row));
	else
		++left_out_;
}

// Extends the last run if nothing is in between.
void Story::run(std::uint32_t cpu, std::uint64_t from, std::uint64_t to, Mode mode)
{
	const bool continues = last_run_.what == Interval::What::runs && last_run_.cpu == cpu && last_run_.to == from;
	if (!continues) {
		last_run_ = {Interval::What::runs, from, to, cpu};
		last_run_kept_ = rows_.size() < max_rows;
		add(last_run_);
	}
	last_run_.to = to;
	if (!last_run_kept_)
		return;
	const auto kept = std::ranges::find(rows_.rbegin(), rows_.rend(), Interval::What::runs, &Interval::what);
	kept->to = to;
	kept->modes[static_cast<std::size_t>(mode)] += to - from;
}

void Story::spent(const Cpu &cpu, std::uint64_t from, std::uint64_t to, Mode mode, bool is_idle)
{
	if (!cpu.current)
		unfound_.push_back({cpu.number, from, to});
	else if (is_ours(*cpu.current) && !is_idle)
		run(cpu.number, from, to, mode);
}

void Story::found(const Cpu &cpu, const Thread &thread)
{
	for (const Unfound &unfound : unfound_)
		if (unfound.cpu == cpu.number && is_ours(thread))
			run(cpu.number, unfound.from, unfound.to, Mode::unknown);
	std::erase_if(unfound_, [&](const Unfound &unfound) { return unfound.cpu == cpu.number; });
}

void Story::lost(const Cpu &cpu, std::uint64_t, std::uint64_t)
{
	std::erase_if(unfound_, [&](const Unfound &unfound) { return unfound.cpu == cpu.number; });
}

// For what runs there, if it is this thread.
void Story::moved(const Cpu &cpu, Mode from, Mode to, std::uint64_t ticks)
{
	if (!cpu.current || !is_ours(*cpu.current) || !last_run_kept_)
		return;
	const auto kept = std::ranges::find(rows_.rbegin(), rows_.rend(), Interval::What::runs, &Interval::what);
	const std::uint64_t part = std::min(ticks, kept->modes[static_cast<std::size_t>(from)]);
	kept->modes[static_cast<std::size_t>(from)] -= part;
	kept->modes[static_cast<std::size_t>(to)] += part;
}

void Story::waited(const Thread &thread, std::uint64_t from, std::uint64_t to)
{
	if (is_ours(thread))
		add({Interval::What::waits, from, to});
}

void Story::throttled(const Thread &thread, std::uint64_t from, std::uint64_t to)
{
	if (is_ours(thread))
		add({Interval::What::throttled, from, to});
}

void Story::slept(const Thread &thread, std::uint64_t from, std::uint64_t to, const analyze::Waker &waker, bool is_over)
{
	if (is_ours(thread))
		add({Interval::What::sleeps, from, to, 0, thread.syscall, {}, waker, is_over});
}

Json Story::json(const analyze::Recorded &recorded) const
{
	std::vector<Interval> rows = rows_;
	std::ranges::stable_sort(rows, {}, &Interval::from);
	std::unordered_map<const Thread *, std::size_t> numbers;
	for (const Thread &thread : fold_.threads())
		numbers.emplace(&thread, numbers.size());
	Json json_rows = Json::array();
	for (const Interval &row : rows) {
		const char *names[] = {"runs", "waits", "throttled", "sleeps"};
		Json one = {
		    {"from", row.from - begin_}, {"to", row.to - begin_}, {"what", names[static_cast<int>(row.what)]}};
		if (row.what == Interval::What::runs) {
			one["cpu"] = row.cpu;
			for (std::size_t mode = 0; mode < analyze::modes; ++mode)
				one["modes"][mode_names()[mode]] = row.modes[mode];
			if (!recorded.interrupts)
				one["modes"]["irq"] = nullptr;
			if (!recorded.softirqs)
				one["modes"]["softirq"] = nullptr;
		}
		if (row.what == Interval::What::sleeps) {
			one.update({{"call", nullptr},
				    {"waker", nullptr},
				    {"waker_tid", nullptr},
				    {"waker_thread", nullptr},
				    {"is_over", row.is_over}});
			if (row.call != EDC_NO_SYSCALL)
				one["call"] = fold_.kinds().syscall_label(row.call);
			if (row.waker.interrupt >= 0) {
				one["waker"] = fold_.kinds().interrupt_label(
				    static_cast<std::uint32_t>(row.waker.interrupt), row.waker.number);
			} else if (row.waker.thread) {
				one["waker"] = row.waker.thread->name;
				one["waker_tid"] = row.waker.thread->tid;
				if (const auto number = numbers.find(row.waker.thread); number != numbers.end())
					one["waker_thread"] = number->second;
			}
		}
		json_rows.push_back(std::move(one));
	}
	Json story = {{"tid", nullptr}, {"pid", nullptr}, {"name", ""}};
	if (thread_ < fold_.threads().size()) {
		const Thread &thread = fold_.threads()[thread_];
		story = {{"tid", thread.tid}, {"pid", thread.tgid}, {"name", thread.name}};
	}
	story["rows"] = std::move(json_rows);
	story["left_out"] = left_out_;
	return story;
}

} // namespace monitor::view
