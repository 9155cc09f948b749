// SPDX-License-Identifier: MIT
#include "story.h"

#include <algorithm>

namespace monitor::view {

using analyze::Mode;
using Json = nlohmann::ordered_json;

bool Story::is_full()
{
	left_out_ += rows_.size() >= max_rows;
	return rows_.size() >= max_rows;
}

// The same run, as long as nothing is between.
void Story::spent(const analyze::Cpu &cpu, const analyze::Stretch &stretch)
{
	if (!stretch.thread || stretch.thread->tid != tid_ || stretch.is_idle)
		return;
	const bool continues = !rows_.empty() && rows_.back().what == Row::What::runs &&
			       rows_.back().cpu == cpu.number && rows_.back().to == stretch.from;
	if (!continues && is_full())
		return;
	if (!continues)
		rows_.push_back({Row::What::runs, stretch.from, stretch.to, cpu.number});
	Row &run = rows_.back();
	const std::uint64_t ticks = stretch.to - stretch.from;
	run.to = stretch.to;
	run.user += stretch.mode == Mode::user ? ticks : 0;
	run.kernel += stretch.mode == Mode::kernel ? ticks : 0;
	run.interrupts += stretch.mode == Mode::irq || stretch.mode == Mode::softirq ? ticks : 0;
}

void Story::waited(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to)
{
	if (thread.tid == tid_ && !is_full())
		rows_.push_back({Row::What::waits, from, to});
}

void Story::blocked(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to, const analyze::Waker &waker)
{
	if (thread.tid != tid_ || is_full())
		return;
	rows_.push_back({Row::What::sleeps, std::max(from, begin_), to, 0, thread.syscall, 0, 0, 0, waker});
}

Json Story::told() const
{
	std::vector<Row> rows = rows_;
	std::ranges::stable_sort(rows, {}, &Row::from);
	Json told = Json::array();
	for (const Row &row : rows) {
		const char *names[] = {"runs", "waits", "sleeps"};
		Json one = {
		    {"from", row.from - begin_}, {"to", row.to - begin_}, {"what", names[static_cast<int>(row.what)]}};
		if (row.what == Row::What::runs)
			one.update({{"cpu", row.cpu},
				    {"user", row.user},
				    {"kernel", row.kernel},
				    {"interrupts", row.interrupts}});
		if (row.what == Row::What::sleeps) {
			one.update({{"call", nullptr}, {"waker", nullptr}, {"waker_tid", nullptr}});
			if (row.call != EDC_NO_SYSCALL)
				one["call"] = machine_.kinds().syscall_label(row.call);
			if (row.waker.interrupt >= 0) {
				one["waker"] = machine_.kinds().interrupt_label(
				    static_cast<std::uint32_t>(row.waker.interrupt), row.waker.number);
			} else if (row.waker.thread) {
				one["waker"] = row.waker.thread->name;
				one["waker_tid"] = row.waker.thread->tid;
			}
		}
		told.push_back(std::move(one));
	}
	const analyze::Thread *thread = machine_.thread(tid_);
	return {{"tid", tid_},
		{"pid", thread ? Json(thread->tgid) : Json(nullptr)},
		{"name", thread ? thread->name : ""},
		{"rows", std::move(told)},
		{"left_out", left_out_}};
}

} // namespace monitor::view
