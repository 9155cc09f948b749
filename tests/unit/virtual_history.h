// SPDX-License-Identifier: MIT
// Histories with probes that take time, for test_virtual_clock.cpp.
//
// A program is what threads of one tree do; traced() runs it on pinned CPUs, each event delayed by its probe, and notes
// besides each event how much of the time before it was work. Played with the work alone, by the order of the events,
// it gives the times without probes: mismatches() compares those of the clock with them. Nothing here uses the clock's
// arithmetic. wild_history() is any sequence of events, for the orders.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "reading/cost/virtual_clock.h"

namespace virtual_history {

using monitor::cost::ProbeTime;
using monitor::cost::VirtualClock;

struct Step {
	enum class What : std::uint8_t { compute, call, wake, sleep, timer, yield } what = What::compute;
	double ticks = 0;    // of compute and timer
	std::size_t who = 0; // of wake
};

struct Program {
	unsigned cpus = 1;
	std::vector<std::vector<Step>> threads;
	std::vector<unsigned> pinned;
};

inline Program random_program(std::mt19937 &random, unsigned cpus, std::size_t threads, std::size_t steps)
{
	const auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
	Program program;
	program.cpus = cpus;
	program.threads.resize(threads);
	for (auto &thread : program.threads) {
		program.pinned.push_back(below(cpus));
		for (std::size_t i = 0; i < steps; ++i) {
			constexpr Step::What kinds[] = {Step::What::compute, Step::What::compute, Step::What::call,
							Step::What::call,    Step::What::wake,    Step::What::wake,
							Step::What::sleep,   Step::What::timer,   Step::What::yield};
			thread.push_back(
			    {kinds[below(9)], static_cast<double>(below(400)), below(static_cast<unsigned>(threads))});
		}
	}
	return program;
}

struct Moment {
	enum class What : std::uint8_t { other, switched, woke, interrupted } what = What::other;
	std::uint32_t cpu = 0;
	double time = 0, work = 0; // work: of what ran there, since the CPU's moment before
	ProbeTime probe;
	std::uint32_t thread = VirtualClock::idle; // switched: the next; woke: whom
	bool remains_ready = false, from_outside = false;
	double slept = 0; // of a timer: how long it lasted
};

using Schedule = std::vector<Moment>;

// Runs a program: the CPU whose time is the earliest takes its next step.
class Tracer {
public:
	Tracer(const Program &program, std::mt19937 &random)
	    : program_(program), random_(random), threads_(program.threads.size()), cpus_(program.cpus)
	{
		for (std::uint32_t i = 0; i < threads_.size(); ++i) {
			threads_[i].wakings = 1; // the first step is not a sleep
			cpus_[program.pinned[i]].timers.push_back({static_cast<double>(random() % 1000), i, 0});
		}
	}

	Schedule run()
	{
		for (Cpu *cpu = next(); cpu; cpu = next())
			step(*cpu);
		std::ranges::stable_sort(moments_, {}, &Moment::time);
		return moments_;
	}

private:
	static constexpr double never = std::numeric_limits<double>::infinity();
	struct Timer {
		double time;
		std::uint32_t thread;
		double since;
	};
	struct Thread {
		std::size_t at = 0; // its step
		double done = 0;    // of a compute
		bool is_asleep = true;
		int wakings = 0;
	};
	struct Ready {
		double time;
		std::uint32_t thread;
	};
	struct Cpu {
		double time = 0, work = 0;
		std::uint32_t current = VirtualClock::idle;
		std::deque<Ready> ready;
		std::vector<Timer> timers;
	};

	static double timer_of(const Cpu &cpu)
	{
		double first = never;
		for (const Timer &timer : cpu.timers)
			first = std::min(first, timer.time);
		return first;
	}

	Cpu *next()
	{
		Cpu *first = nullptr;
		double at = never;
		for (Cpu &cpu : cpus_) {
			double due = cpu.time;
			if (cpu.current == VirtualClock::idle)
				due = std::max(
				    due, std::min(cpu.ready.empty() ? never : cpu.ready.front().time, timer_of(cpu)));
			if (due < at) {
				at = due;
				first = &cpu;
			}
		}
		return first;
	}

	Moment &post(Cpu &cpu, Moment::What what)
	{
		const ProbeTime probe = {4, static_cast<double>(random_() % 12)};
		cpu.time += probe.before;
		moments_.push_back({what, static_cast<std::uint32_t>(&cpu - cpus_.data()), cpu.time,
				    std::exchange(cpu.work, 0), probe});
		cpu.time += probe.after;
		return moments_.back();
	}

	void make_ready(std::uint32_t thread, double time)
	{
		threads_[thread].is_asleep = false;
		cpus_[program_.pinned[thread]].ready.push_back({time, thread});
	}

	void interrupt(Cpu &cpu)
	{
		const auto timer = std::ranges::min_element(cpu.timers, {}, &Timer::time);
		const Timer due = *timer;
		cpu.timers.erase(timer);
		cpu.time = std::max(cpu.time, due.time);
		const double begin = cpu.time;
		post(cpu, Moment::What::interrupted);
		Moment &woke = post(cpu, Moment::What::woke);
		woke.thread = due.thread;
		woke.from_outside = true;
		woke.slept = begin - due.since;
		make_ready(due.thread, cpu.time);
		post(cpu, Moment::What::other);
	}

	void switch_to_next(Cpu &cpu, bool remains_ready)
	{
		const std::uint32_t prev = cpu.current;
		Moment &moment = post(cpu, Moment::What::switched);
		moment.remains_ready = remains_ready;
		// Only what was ready by now: the time of this CPU may be ahead of others.
		cpu.current = VirtualClock::idle;
		if (!cpu.ready.empty() && cpu.ready.front().time <= moment.time) {
			cpu.current = cpu.ready.front().thread;
			cpu.ready.pop_front();
		}
		moment.thread = cpu.current;
		if (remains_ready)
			cpu.ready.push_back({moment.time, prev});
	}

	void step(Cpu &cpu)
	{
		if (cpu.current == VirtualClock::idle) {
			const double timer = timer_of(cpu);
			if (cpu.ready.empty() || timer < cpu.ready.front().time)
				return interrupt(cpu);
			cpu.time = std::max(cpu.time, cpu.ready.front().time);
			return switch_to_next(cpu, false);
		}
		if (timer_of(cpu) <= cpu.time)
			return interrupt(cpu);
		Thread &thread = threads_[cpu.current];
		const auto &steps = program_.threads[cpu.current];
		if (thread.at == steps.size()) {
			thread.is_asleep = true;
			thread.wakings = -1'000'000; // for ever
			return switch_to_next(cpu, false);
		}
		const Step &now = steps[thread.at];
		if (now.what == Step::What::compute) {
			const double part = std::min(now.ticks - thread.done, timer_of(cpu) - cpu.time);
			cpu.time += part;
			cpu.work += part;
			thread.done += part;
			if (thread.done < now.ticks)
				return;
		}
		thread.done = 0;
		++thread.at;
		take(cpu, thread, now);
	}

	void take(Cpu &cpu, Thread &thread, const Step &now)
	{
		switch (now.what) {
		case Step::What::compute:
			return;
		case Step::What::call:
			post(cpu, Moment::What::other);
			return;
		case Step::What::wake: {
			Thread &other = threads_[now.who];
			const bool sleeps = other.is_asleep && other.wakings == 0;
			Moment &moment = post(cpu, sleeps ? Moment::What::woke : Moment::What::other);
			moment.thread = static_cast<std::uint32_t>(now.who);
			if (sleeps)
				make_ready(moment.thread, cpu.time);
			else
				++other.wakings;
			return;
		}
		case Step::What::sleep:
			if (thread.wakings > 0) {
				--thread.wakings;
				post(cpu, Moment::What::other);
				return;
			}
			thread.is_asleep = true;
			return switch_to_next(cpu, false);
		case Step::What::timer: {
			const std::uint32_t self = cpu.current;
			++thread.wakings; // nobody else ends it
			thread.is_asleep = true;
			switch_to_next(cpu, false);
			const double since = cpu.time - moments_.back().probe.after;
			cpu.timers.push_back({since + std::max(now.ticks, 20.0), self, since});
			return;
		}
		case Step::What::yield:
			if (!cpu.ready.empty() && cpu.ready.front().time <= cpu.time)
				switch_to_next(cpu, true);
			return;
		}
	}

	const Program &program_;
	std::mt19937 &random_;
	std::vector<Thread> threads_;
	std::vector<Cpu> cpus_;
	Schedule moments_;
};

inline Schedule traced(const Program &program, std::mt19937 &random)
{
	return Tracer(program, random).run();
}

// Plays the moments twice: in the clock, with their times and probes; and with the work alone. "": all agrees.
inline std::string mismatches(const Program &program, const Schedule &schedule)
{
	constexpr std::uint32_t tree = 7;
	VirtualClock clock(0);
	std::vector<double> now(program.threads.size(), 0), ran = now, waited = now, slept = now, since = now,
							    measured_ran = now, measured_waited = now,
							    measured_slept = now;
	std::vector<double> left(program.cpus, 0), last(program.cpus, 0);
	std::vector<std::uint32_t> current(program.cpus, VirtualClock::idle);
	for (std::size_t i = 0; i < now.size(); ++i)
		clock.begin_as(clock.add(tree, false), VirtualClock::State::blocked);
	for (unsigned cpu = 0; cpu < program.cpus; ++cpu)
		clock.found(cpu, VirtualClock::idle);
	for (const Moment &moment : schedule) {
		clock.event(moment.cpu, moment.time, moment.probe);
		const std::uint32_t before = current[moment.cpu];
		if (before != VirtualClock::idle) {
			now[before] += moment.work;
			ran[before] += moment.work;
			measured_ran[before] += moment.time - last[moment.cpu];
		}
		last[moment.cpu] = moment.time;
		switch (moment.what) {
		case Moment::What::other:
			break;
		case Moment::What::interrupted:
			clock.interrupted(moment.cpu);
			break;
		case Moment::What::woke: {
			clock.woke(moment.cpu, moment.thread, moment.from_outside);
			const double own = now[moment.thread];
			now[moment.thread] =
			    moment.from_outside ? own + moment.slept : std::max(own, now[current[moment.cpu]]);
			slept[moment.thread] += now[moment.thread] - own;
			measured_slept[moment.thread] += moment.time - std::exchange(since[moment.thread], moment.time);
			break;
		}
		case Moment::What::switched:
			if (before != VirtualClock::idle) {
				since[before] = moment.time;
				left[moment.cpu] = now[before];
			}
			clock.switched(moment.cpu, moment.remains_ready, moment.thread);
			if (moment.thread != VirtualClock::idle) {
				const double own = now[moment.thread];
				now[moment.thread] = std::max(own, left[moment.cpu]);
				waited[moment.thread] += now[moment.thread] - own;
				measured_waited[moment.thread] += moment.time - since[moment.thread];
			}
			current[moment.cpu] = moment.thread;
		}
		for (std::uint32_t thread = 0; thread < now.size(); ++thread)
			if (clock.now(thread) != now[thread])
				return "thread " + std::to_string(thread) + " at " + std::to_string(moment.time) +
				       ": " + std::to_string(clock.now(thread)) + ", not " +
				       std::to_string(now[thread]);
	}
	for (std::uint32_t thread = 0; thread < now.size(); ++thread) {
		const auto &removed = clock.removed(thread);
		if (measured_ran[thread] - removed.running != ran[thread] ||
		    measured_waited[thread] - removed.waiting != waited[thread] ||
		    measured_slept[thread] - removed.blocked != slept[thread])
			return "the sums of thread " + std::to_string(thread);
	}
	return "";
}

// Threads of several trees that run, sleep, move and wake each other at random, on four CPUs. Counts what goes back in
// virtual time: on a CPU within a tree, in a thread, or from a waker to the woken. Returns how many events it had.
inline std::uint64_t wild_history(std::mt19937 &random, std::uint64_t &violations)
{
	constexpr unsigned cpus = 4, threads = 24, trees = 3, events = 20'000;
	const auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
	VirtualClock clock(0);
	std::vector<std::uint32_t> current(cpus, VirtualClock::idle), tree(threads, 0);
	std::vector<bool> running(threads, false);
	std::vector<double> seen(threads, 0), woken(threads, 0);
	std::map<std::pair<unsigned, std::uint32_t>, double> of_cpu;
	for (unsigned thread = 0; thread < threads; ++thread) {
		tree[thread] = 1 + thread % trees;
		clock.begin_as(clock.add(tree[thread], false), static_cast<VirtualClock::State>(2 + below(2)));
	}
	for (unsigned cpu = 0; cpu < cpus; ++cpu)
		clock.found(cpu, VirtualClock::idle);
	double time = 0;
	const auto look = [&](unsigned cpu) {
		const std::uint32_t thread = current[cpu];
		if (thread == VirtualClock::idle)
			return;
		double &before = of_cpu[{cpu, tree[thread]}];
		const double now = clock.now(thread);
		violations += now < before || now < seen[thread] || now < woken[thread] || !std::isfinite(now);
		before = std::max(before, now);
		seen[thread] = std::max(seen[thread], now);
	};
	for (unsigned i = 0; i < events; ++i) {
		time += below(60);
		const unsigned cpu = below(cpus);
		clock.event(cpu, time, {static_cast<double>(below(40)), static_cast<double>(below(40))});
		look(cpu);
		const unsigned what = below(4), thread = below(threads);
		if (what == 0) {
			const std::uint32_t next = running[thread] ? VirtualClock::idle : thread;
			clock.switched(cpu, below(2), next);
			if (current[cpu] != VirtualClock::idle)
				running[current[cpu]] = false;
			if (next != VirtualClock::idle)
				running[next] = true;
			current[cpu] = next;
			look(cpu);
		} else if (what == 1) {
			const bool from_outside = below(4) == 0;
			if (from_outside)
				clock.interrupted(cpu);
			const bool slept = clock.state(thread) == VirtualClock::State::blocked;
			clock.woke(cpu, thread, from_outside);
			const std::uint32_t waker = current[cpu];
			if (slept && !from_outside && waker != VirtualClock::idle && tree[waker] == tree[thread])
				woken[thread] = std::max(woken[thread], clock.now(waker));
		}
	}
	return events;
}

} // namespace virtual_history
