// SPDX-License-Identifier: MIT
// Draws the parts of a frame from top to bottom: position in the trace, CPUs, threads or their layout, messages.
#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "answers/report/table.h"
#include "picture.h"

namespace monitor::play {
namespace {

using analyze::Mode;
using analyze::State;

constexpr Look heading = {Colour::plain, true};
constexpr Look faint = {Colour::plain, false, true};
constexpr unsigned now_columns = 26, name_columns = 16; // so that long names leave space for the thread's number

std::string ticks_text(std::uint64_t ticks, const View &view)
{
	return report::duration_text(view.clock->to_ns(ticks));
}

void draw_position(Cells &cells, const Scene &scene, const View &view)
{
	const std::string right = fmt::format("{} of {}{}  speed {}{}{}", view.times(scene.time), view.times(view.end),
					      view.times.unit(), view.speed, *view.state ? "  " : "", view.state);
	const auto width = static_cast<unsigned>(right.size());
	const unsigned space = cells.columns() > width + 1 ? cells.columns() - width - 1 : 0;
	cells.text(0, 0, "monitor play " + view.title, heading, space);
	cells.text(0, cells.columns() > width ? cells.columns() - width : 0, right);
	const double share = static_cast<double>(scene.time - std::min(scene.time, view.begin)) /
			     static_cast<double>(std::max<std::uint64_t>(view.end - view.begin, 1));
	cells.line(1, 0, cells.columns(), U'─', faint);
	cells.symbol(1, static_cast<unsigned>(share * (cells.columns() - 1)), U'●', heading);
}

std::string now_text(const SceneCpu &cpu)
{
	switch (cpu.what) {
	case SceneCpu::What::unknown:
		return cpu.is_in_loss ? "? events are missing" : "?";
	case SceneCpu::What::idle:
		return "idle";
	case SceneCpu::What::offline:
		return "offline";
	case SceneCpu::What::thread:
		break;
	}
	return cpu.tid == 0 ? "idle, " + mode_text(cpu) : fmt::format("{} {}", cpu.tid, mode_text(cpu));
}

void draw_past(Cells &cells, unsigned row, unsigned column, unsigned width, const SceneCpu &cpu, const View &view)
{
	const auto count = static_cast<unsigned>(std::min<std::size_t>(cpu.past.size(), width));
	for (unsigned i = 0; i < count; ++i) {
		const PastStep &step = cpu.past[cpu.past.size() - count + i];
		const unsigned at = column + width - count + i;
		if (step.tid < 0)
			cells.symbol(row, at, U'?', faint);
		else if (step.tid == 0)
			cells.symbol(row, at, step.letter == '.' ? U'·' : U'!', faint);
		else
			cells.symbol(row, at, static_cast<char32_t>(step.letter), look_of_thread(step.tid, view));
	}
}

std::string ready_text(const std::vector<std::int32_t> &ready, const Scene &scene)
{
	constexpr std::size_t max_named = 3;
	std::string text;
	for (std::size_t i = 0; i < std::min(ready.size(), max_named); ++i)
		text += (i ? " " : "") + scene.find(ready[i])->name;
	return ready.size() > max_named ? fmt::format("{}: {} ...", ready.size(), text) : text;
}

// Returns the next row.
unsigned draw_cpus(Cells &cells, unsigned row, unsigned rows, const Scene &scene, const View &view)
{
	const unsigned past = std::clamp(cells.columns() - std::min(cells.columns(), 50u), 10u, past_steps);
	const unsigned now_at = 5 + past + 1, ready_at = now_at + now_columns + 1;
	const auto all = static_cast<unsigned>(scene.cpus.size());
	const std::string what =
	    rows < all ? fmt::format("CPU {} to {} of {}", view.first_cpu, view.first_cpu + rows - 1, all) : "CPU";
	const unsigned after = std::max(cells.text(row, 1, what, heading) + 1, 5u);
	const std::string steps = fmt::format("{} steps of {}", past, ticks_text(scene.step, view));
	cells.text(row, after, steps, faint, now_at - std::min(now_at, after + 1));
	cells.text(row, now_at, "now", heading);
	cells.text(row++, ready_at, "ready", heading);
	for (unsigned i = view.first_cpu; i < std::min(all, view.first_cpu + rows); ++i, ++row) {
		const SceneCpu &cpu = scene.cpus[i];
		Look look;
		look.is_reverse = view.marked_cpu == cpu.number;
		cells.text(row, 0, fmt::format("{:>4}", cpu.number), look);
		draw_past(cells, row, 5, past, cpu, view);
		const bool is_thread = cpu.what == SceneCpu::What::thread && cpu.tid != 0;
		const Look now_look = is_thread ? look_of_thread(cpu.tid, view) : faint;
		const unsigned now_after =
		    is_thread ? cells.text(row, now_at, cpu.name, now_look, name_columns) + 1 : now_at;
		cells.text(row, now_after, now_text(cpu), now_look, now_at + now_columns - now_after);
		cells.text(row, ready_at, ready_text(cpu.ready, scene));
	}
	return row;
}

// When a thread was last active, as far as known.
std::uint64_t last_active(const SceneThread &thread, const Scene &scene)
{
	return thread.state == State::running ? scene.time + 1 : thread.state == State::unknown ? 0 : thread.since;
}

// The most recently active threads, sorted by number.
std::vector<const SceneThread *> latest_active(const Scene &scene, const View &view, std::size_t count,
					       std::size_t &all)
{
	std::vector<const SceneThread *> threads;
	for (const SceneThread &thread : scene.threads)
		if (thread.state != State::dead || view.marked == thread.tid)
			threads.push_back(&thread);
	all = threads.size();
	count = std::min(count, all);
	const auto rank = [&](const SceneThread *thread) {
		return std::tuple(view.marked != thread->tid, ~last_active(*thread, scene), thread->tid);
	};
	const auto last = threads.begin() + static_cast<std::ptrdiff_t>(count);
	std::ranges::partial_sort(threads, last, {}, rank);
	threads.erase(last, threads.end());
	std::ranges::sort(threads, {}, &SceneThread::tid);
	return threads;
}

void draw_threads(Cells &cells, unsigned row, unsigned rows, const Scene &scene, const View &view,
		  std::vector<std::int32_t> &listed)
{
	std::size_t all = 0;
	const auto threads = latest_active(scene, view, rows, all);
	const unsigned after = cells.text(row, 1, "threads", heading);
	if (all > threads.size())
		cells.text(row, after + 1, fmt::format("the {} last active of {}", threads.size(), all), faint);
	if (!scene.unplaced.empty())
		cells.text(row, 40, "ready, where is unknown: " + ready_text(scene.unplaced, scene), faint);
	++row;
	for (const SceneThread *thread : threads) {
		const Look look = look_of_thread(thread->tid, view);
		cells.text(row, 0, view.marked == thread->tid ? ">" : " ");
		cells.text(row, 1, fmt::format("{:>7}", thread->tid), look);
		cells.text(row, 9, thread->name, look, 18);
		cells.text(row, 28, doing_text(*thread, scene, view));
		listed.push_back(thread->tid);
		++row;
	}
}

std::string party_text(const Party &party)
{
	if (!party.is_known())
		return "?";
	return party.tid < 0 ? party.thread : fmt::format("{} {}", party.thread, party.tid);
}

void draw_messages(Cells &cells, unsigned row, unsigned rows, const Scene &scene, const View &view)
{
	unsigned after = cells.text(row, 1, "messages", heading);
	after = cells.text(row, after + 1, "the newest wake-ups, and events of programs", faint);
	if (!scene.wakings_are_known)
		cells.text(row, after, "; wake-ups were not recorded", faint);
	++row;
	for (const Message &message : messages_of(scene, view, rows)) {
		const unsigned at = cells.text(row, 1, view.times(message.time), faint);
		cells.text(row++, at + 2, message.text);
	}
}

// EventKinds::syscall_label() calls a stop by a signal and by a tracer so.
std::string in_text(const std::string &call)
{
	const bool is_stop = call == "stopped" || call == "traced";
	return call.empty() ? "" : (is_stop ? ", " : " in ") + call;
}

} // namespace

Look look_of_thread(std::int32_t tid, const View &view)
{
	Look look;
	look.colour = static_cast<Colour>(1 + static_cast<unsigned>(tid) % (terminal::colours - 1));
	look.is_bold = look.is_reverse = view.marked == tid;
	return look;
}

std::string doing_text(const SceneThread &thread, const Scene &scene, const View &view)
{
	const std::string in = in_text(thread.call);
	const std::string for_how_long = " for " + ticks_text(scene.time - std::min(scene.time, thread.since), view);
	switch (thread.state) {
	case State::running:
		return fmt::format("runs on CPU {}{}", thread.cpu ? std::to_string(*thread.cpu) : "?", in);
	case State::runnable:
		return fmt::format("ready on CPU {}{}", thread.cpu ? std::to_string(*thread.cpu) : "?", for_how_long);
	case State::throttled:
		return "throttled" + for_how_long;
	case State::blocked:
		return "sleeps" + in + for_how_long;
	case State::dead:
		return "ended";
	case State::unknown:
		break;
	}
	return thread.is_hidden ? "? the kernel hides it" : "?";
}

std::string mode_text(const SceneCpu &cpu)
{
	if (!cpu.interrupt.empty())
		return cpu.interrupt;
	switch (cpu.mode) {
	case Mode::user:
		return "user";
	case Mode::kernel:
	case Mode::irq:
	case Mode::softirq:
		return cpu.call.empty() ? "kernel" : "in " + cpu.call;
	case Mode::unattributed:
		return cpu.call.empty() ? "user or kernel" : "in " + cpu.call;
	case Mode::unknown:
		break;
	}
	return "mode ?";
}

std::vector<Message> messages_of(const Scene &scene, const View &view, std::size_t count)
{
	std::vector<Message> messages;
	for (std::size_t i = 0; i < std::min(count, scene.wake_ups.size()); ++i) {
		const WakeUp &wake_up = scene.wake_ups[i];
		messages.push_back({wake_up.time, fmt::format("{} wakes {}, which slept {}{}",
							      party_text(wake_up.waker), party_text(wake_up.wakee),
							      ticks_text(wake_up.slept, view), in_text(wake_up.call))});
	}
	for (std::size_t i = 0; i < std::min(count, scene.posted.size()); ++i)
		messages.push_back({scene.posted[i].time,
				    fmt::format("{} posts {}", party_text(scene.posted[i].by), scene.posted[i].event)});
	std::ranges::stable_sort(messages, std::greater<>(), &Message::time);
	messages.resize(std::min(count, messages.size()));
	return messages;
}

Shown draw(const Scene &scene, const View &view, unsigned rows, unsigned columns, bool is_utf8)
{
	Shown shown = {Cells(rows, columns, is_utf8), 0, {}};
	Cells &cells = shown.cells;
	if (cells.rows() < min_rows || cells.columns() < min_columns) {
		cells.text(0, 0, fmt::format("{}x{} at least", min_columns, min_rows));
		return shown;
	}
	// One row each: the position (2), three headings, the note.
	const unsigned rest = cells.rows() - 6;
	const unsigned messages = std::clamp(rest / 4, 1u, 8u);
	const unsigned for_cpus = view.layout ? std::max(rest / 4, 1u) : (rest - messages + 1) / 2;
	shown.cpus = std::min(static_cast<unsigned>(scene.cpus.size()), for_cpus);
	View scrolled = view;
	scrolled.first_cpu = std::min(view.first_cpu, static_cast<unsigned>(scene.cpus.size()) - shown.cpus);
	draw_position(cells, scene, view);
	unsigned row = draw_cpus(cells, 2, shown.cpus, scene, scrolled);
	const unsigned last = cells.rows() - messages - 2; // of the messages' heading
	if (view.layout)
		row = draw_layout(cells, row, last - row, scene, view);
	if (row + 1 < last)
		draw_threads(cells, row, last - row - 1, scene, view, shown.threads);
	draw_messages(cells, last, messages, scene, view);
	cells.text(cells.rows() - 1, 0, view.note, faint);
	return shown;
}

} // namespace monitor::play
