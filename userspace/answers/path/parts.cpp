// SPDX-License-Identifier: MIT
#include "parts.h"

#include <algorithm>

#include "base/grow.h"

namespace monitor::path {
namespace {

using analyze::Mode;
using analyze::Ring;

// moved() concerns only the last ones.
constexpr std::size_t max_pieces = 64;

// Extends the last interval instead if that touches and is the same.
template <class Interval, class Same> void append(std::vector<Interval> &all, const Interval &one, Same &&is_same)
{
	if (!all.empty() && all.back().end == one.begin && is_same(all.back())) {
		all.back().end = one.end;
		return;
	}
	if (all.size() == max_pieces)
		all.erase(all.begin(), all.begin() + max_pieces / 2);
	all.push_back(one);
}

bool is_on_cpu(const Link &link)
{
	return link.stretch && (link.stretch->kind == Kind::running ||
				(link.stretch->kind == Kind::ready && link.stretch->where != unknown_cpu));
}

PartKind kind_in(Mode mode, const analyze::Thread &thread)
{
	switch (mode) {
	case Mode::user:
		return PartKind::user;
	case Mode::irq:
	case Mode::softirq:
		return PartKind::interrupt;
	case Mode::kernel:
		return thread.ring == Ring::system_call ? PartKind::call
		       : thread.ring == Ring::fault     ? PartKind::fault
							: PartKind::kernel;
	case Mode::unattributed:
		return PartKind::unattributed;
	case Mode::unknown:
		break;
	}
	return PartKind::unknown_mode;
}

} // namespace

std::size_t PartHash::operator()(const Part &part) const
{
	std::uint64_t hash = part.who;
	for (const std::uint64_t word :
	     {static_cast<std::uint64_t>(part.detail) << 32 | part.name, static_cast<std::uint64_t>(part.sleep),
	      static_cast<std::uint64_t>(part.cause) << 32 | static_cast<std::uint64_t>(part.end) << 8 |
		  static_cast<std::uint64_t>(part.kind)})
		hash = (hash ^ word) * 0x9e3779b97f4a7c15 + (hash >> 29);
	return hash ^ hash >> 32;
}

Parts::Parts(Stretches &stretches, const Paths &paths, Who who, std::uint64_t long_wait)
    : stretches_(stretches), paths_(paths), who_(who), has_hidden_(stretches.has_hidden()), long_wait_(long_wait)
{
	const std::deque<Link> &links = paths.links();
	for (std::uint32_t i = 0; i < links.size(); ++i) {
		const Link &link = links[i];
		if (link.thread == nobody)
			continue;
		if (!is_on_cpu(link)) {
			ticks_[part_of(link, paths.end_of(i))] += paths.end_of(i) - link.begin;
			continue;
		}
		grow_to(lanes_, link.stretch->where).links.push_back(i);
	}
	const auto begin_of = [&](std::uint32_t link) { return links[link].begin; };
	for (Lane &lane : lanes_)
		if (!std::ranges::is_sorted(lane.links, {}, begin_of)) // of several paths
			std::ranges::stable_sort(lane.links, {}, begin_of);
}

Why Parts::why_unknown(const Link &link, std::uint64_t end) const
{
	const analyze::Thread &thread = *stretches_.threads()[link.thread].thread;
	return thread.hidden                          ? Why::hidden
	       : thread.filtered                      ? Why::not_recorded
	       : stretches_.has_lost(link.begin, end) ? Why::lost
	       : has_hidden_                          ? Why::beside_hidden
						      : Why::no_event;
}

Part Parts::part_of(const Link &link, std::uint64_t end, PartKind kind) const
{
	const ThreadStretches &of = stretches_.threads()[link.thread];
	Part part;
	part.name = of.name_at(link.begin);
	part.who = who_ == Who::thread ? link.thread : part.name;
	part.sleep = link.sleep;
	part.kind = kind;
	if (kind != PartKind::unknown)
		return part;
	const Stretch *stretch = link.stretch;
	if (stretch && stretch->kind == Kind::blocked) {
		part.kind = PartKind::asleep;
		part.detail = stretch->where;
		part.end = link.is_cut ? End::open : stretch->end;
		if (part.end == End::led) {
			part.end = stretches_.leads()[stretch->cause].end;
			part.cause = stretches_.leads()[stretch->cause].cause;
		} else if (part.end == End::interrupt || part.end == End::network || part.end == End::not_recorded) {
			part.cause = stretch->cause;
		}
	} else if (stretch && stretch->kind == Kind::ready) {
		part.kind = PartKind::ready_unknown;
	} else if (stretch && stretch->kind == Kind::throttled) {
		part.kind = PartKind::throttled;
	} else {
		part.detail = static_cast<std::uint32_t>(why_unknown(link, end));
	}
	return part;
}

std::uint32_t Parts::name_of(Lane &lane, const analyze::Thread &thread)
{
	if (stretches_.names()[lane.name] != thread.name)
		lane.name = thread.name.empty() ? Names::unknown : stretches_.names().number(thread.name);
	return lane.name;
}

Part Parts::running(const Link &link, const analyze::Cpu &cpu, Mode mode, Lane &lane)
{
	Part part;
	part.kind = cpu.current ? kind_in(mode, *cpu.current) : PartKind::unknown_mode;
	part.sleep = link.sleep;
	const bool is_named = cpu.current && !cpu.current->name.empty();
	part.name = is_named ? name_of(lane, *cpu.current) : stretches_.threads()[link.thread].name_at(link.begin);
	part.who = who_ == Who::thread ? link.thread : part.name;
	if (part.kind == PartKind::call)
		part.detail = cpu.current->syscall;
	else if (part.kind == PartKind::interrupt)
		part.detail = cpu.interrupts.back();
	return part;
}

Part Parts::waiting(std::uint32_t link_index, const analyze::Cpu &cpu, Lane &lane)
{
	const Link &link = paths_.links()[link_index];
	if (!cpu.current || cpu.current->hidden)
		return part_of(link, 0, PartKind::ready_unknown);
	const analyze::Thread &running = *cpu.current, &ready = *stretches_.threads()[link.thread].thread;
	if (running.tid == 0) {
		Part part = part_of(link, 0, PartKind::ready_idle);
		part.detail = paths_.end_of(link_index) - link.begin >= long_wait_;
		return part;
	}
	const bool is_own = running.tgid == ready.tgid || (running.in_tree && ready.in_tree);
	Part part = part_of(link, 0, is_own ? PartKind::ready_behind_own : PartKind::ready_behind);
	part.detail = !running.name.empty()
			  ? name_of(lane, running)
			  : stretches_.names().number(running.filtered ? "a thread not recorded" : "an unnamed thread");
	return part;
}

void Parts::add(Lane &lane, Active &active, const analyze::Cpu &cpu, const Spent &spent)
{
	const Link &link = paths_.links()[active.link];
	const std::uint64_t begin = std::max(link.begin, spent.begin),
			    end = std::min(paths_.end_of(active.link), spent.end);
	if (begin >= end)
		return;
	active.covered += end - begin;
	const bool runs = link.stretch->kind == Kind::running;
	const Part part = runs ? running(link, cpu, spent.mode, lane) : waiting(active.link, cpu, lane);
	ticks_[part] += end - begin;
	if (runs)
		append(lane.pieces, {part, begin, end}, [&](const Piece &last) { return last.part == part; });
}

// Adds the time of an ended link that no event explained.
void Parts::add_unexplained(const Active &active)
{
	const Link &link = paths_.links()[active.link];
	const std::uint64_t end = paths_.end_of(active.link), length = end - link.begin;
	const PartKind kind = link.stretch->kind == Kind::running ? PartKind::unknown_mode : PartKind::ready_unknown;
	if (active.covered < length)
		ticks_[part_of(link, end, kind)] += length - active.covered;
}

void Parts::spent(const analyze::Cpu &cpu, std::uint64_t from, std::uint64_t to, Mode mode, bool)
{
	if (cpu.number >= lanes_.size())
		return;
	Lane &lane = lanes_[cpu.number];
	if (lane.current != cpu.current) {
		lane.current = cpu.current;
		lane.spent.clear();
		lane.pieces.clear();
	}
	const Spent spent = {from, to, mode};
	while (lane.next < lane.links.size() && paths_.links()[lane.links[lane.next]].begin < to)
		lane.active.push_back({lane.links[lane.next++], 0});
	std::size_t kept = 0;
	for (Active &active : lane.active) {
		add(lane, active, cpu, spent);
		if (paths_.end_of(active.link) <= to)
			add_unexplained(active);
		else
			lane.active[kept++] = active;
	}
	lane.active.resize(kept);
	if (!lane.pieces.empty())
		append(lane.spent, spent, [&](const Spent &last) { return last.mode == mode; });
}

void Parts::move(std::vector<Piece> &pieces, std::uint64_t from, std::uint64_t to, Mode mode)
{
	for (Piece &piece : pieces) {
		const std::uint64_t begin = std::max(piece.begin, from), end = std::min(piece.end, to);
		if (begin >= end)
			continue;
		Part became = piece.part;
		became.kind = mode == Mode::kernel ? PartKind::kernel : PartKind::unattributed;
		became.detail = 0;
		ticks_[piece.part] -= end - begin;
		ticks_[became] += end - begin;
		piece.end = begin; // what moves is at the end
	}
}

void Parts::moved(const analyze::Cpu &cpu, Mode from, Mode to, std::uint64_t ticks)
{
	if (cpu.number >= lanes_.size() || !cpu.current || lanes_[cpu.number].current != cpu.current)
		return;
	Lane &lane = lanes_[cpu.number];
	for (auto spent = lane.spent.rbegin(); spent != lane.spent.rend() && ticks > 0; ++spent) {
		if (spent->mode != from)
			continue;
		const std::uint64_t part = std::min(ticks, spent->end - spent->begin);
		move(lane.pieces, spent->end - part, spent->end, to);
		spent->end -= part;
		ticks -= part;
	}
}

void Parts::finish()
{
	for (Lane &lane : lanes_) {
		for (; lane.next < lane.links.size(); ++lane.next)
			lane.active.push_back({lane.links[lane.next], 0});
		for (const Active &active : lane.active)
			add_unexplained(active);
		lane.active.clear();
	}
	std::erase_if(ticks_, [](const auto &part) { return part.second == 0; });
}

void read_again(const trace::Trace &trace, analyze::ThreadFold &fold,
		const std::function<void(const trace::Event &)> &each)
{
	trace::Problems ignored; // they are those of the first reading
	trace::merge(
	    trace, ignored, {},
	    [&](const trace::Event &event) {
		    fold.event(event);
		    if (each)
			    each(event);
	    },
	    [&](const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t) {
		    fold.gap(stream, from, to);
	    });
	fold.finish();
}

void fill(Parts &parts, const trace::Trace &trace, const analyze::RecordingInfo &info, trace::TimeRange range)
{
	analyze::ThreadFold second(trace, info, {range, {}, {}});
	second.add(parts);
	read_again(trace, second);
	parts.finish();
}

} // namespace monitor::path
