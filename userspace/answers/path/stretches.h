// SPDX-License-Identifier: MIT
// What each thread did over time, in stretches: running, ready, throttled, blocked (with what ended the sleep) or
// unknown. Observes a ThreadFold, and is given each event after the fold. Paths (walk.h) are followed backwards through
// the stretches.
//
// Invariant: a thread's stretches are in time order and touch; time that no event explains is a stretch `unknown`.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "causes.h"
#include "reading/analyze/thread_fold.h"

namespace monitor::path {

inline constexpr std::uint32_t unknown_cpu = 0xffffff;
// Instead of a call's number.
inline constexpr std::uint32_t in_fault = 0xffffff, unknown_call = 0xfffffe;

enum class Kind : std::uint8_t { unknown, running, ready, throttled, blocked };

// What ended a sleep.
enum class End : std::uint8_t {
	open,         // the sleep goes on at the end
	thread,       // Stretch::cause
	interrupt,    // whose cause is not known
	device,       // a block device, by completing a request
	network,      // a network device, by its interrupt
	led,          // only of a Stretch: see Lead
	hidden,       // a thread that the kernel hides from the probes
	not_recorded, // by a thread that -p did not select, or by an interrupt on its CPU, which has no event
	unknown
};

struct Stretch {
	std::uint64_t begin = 0; // ends where the next one begins
	// thread: index in Stretches::threads(); interrupt: kind << 16 | number; network: number of the device's
	// interrupt; led: index in Stretches::leads(); not_recorded: ID of the process.
	std::uint32_t cause = 0;
	// running, ready: the CPU; blocked: Thread::syscall, in_fault or unknown_call
	std::uint32_t where : 24 = 0;
	Kind kind : 4 = Kind::unknown;
	End end : 4 = End::open;
};
static_assert(sizeof(Stretch) == 16);

// A sleep that ended with work that a thread had started earlier: a request to a disk, a network softirq. From `begin`
// on the sleeper waited for that work.
struct Lead {
	std::uint64_t begin = 0;       // 0: not known
	std::uint32_t thread = nobody; // that started it, an index; nobody: not known
	std::uint32_t cause = 0;       // device: MAJOR << 20 | MINOR; interrupt: as in Stretch
	End end = End::open;           // device, interrupt
};

struct ThreadStretches {
	struct Exchange {
		std::uint64_t time;
		std::uint32_t other;
		bool is_exit = false; // `other` has called exit_group or execve, which ended this thread
	};
	struct Name {
		std::uint64_t since;
		std::uint32_t name;
	};
	struct Queue {
		std::uint64_t since;
		std::uint32_t cpu;
	};

	const analyze::Thread *thread = nullptr;
	std::deque<Stretch> stretches;
	std::uint64_t end = 0;           // of the last stretch
	std::uint32_t creator = nobody;  // index in Stretches::threads()
	std::uint64_t executed = 0;      // its first exec; 0: none
	std::uint64_t died = 0;          // 0: it did not
	std::vector<Exchange> exchanges; // of thread IDs, by execs: before that time this was thread `other`; and exits
	std::vector<Name> names;         // numbers of Stretches::names()
	std::vector<Queue> queues;       // CPUs in whose queue it was in the wait that goes on

	std::uint32_t name_at(std::uint64_t time) const;
	struct Found {
		const Stretch *stretch; // null: there is none
		std::uint64_t end;
	};
	// The last stretch that begins before `time`.
	Found before(std::uint64_t time) const;
	bool has_slept_since(std::uint64_t time) const;
};

// Texts by number; 0 is an unknown name.
class Names {
public:
	static constexpr std::uint32_t unknown = 0;

	Names() { number("?"); }
	std::uint32_t number(const std::string &text);
	const std::string &operator[](std::uint32_t number) const { return *texts_[number]; }

private:
	std::unordered_map<std::string, std::uint32_t> numbers_;
	std::vector<const std::string *> texts_;
};

class Stretches final : public analyze::Observer, public analyze::TimeObserver {
public:
	struct Recorded {                                              // completely, of all threads
		bool interrupts = true, calls = true, requests = true; // requests: to block devices
	};

	Stretches(const analyze::ThreadFold &fold, Recorded recorded) : fold_(fold), recorded_(recorded) {}

	void after(const trace::Event &event);

	void spent(const analyze::Cpu &cpu, std::uint64_t from, std::uint64_t to, analyze::Mode mode,
		   bool is_idle) override;
	void found(const analyze::Cpu &cpu, const analyze::Thread &thread) override;
	void lost(const analyze::Cpu &cpu, std::uint64_t from, std::uint64_t to) override;
	void waited(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to) override;
	void throttled(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to) override;
	void slept(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to, const analyze::Waker &waker,
		   bool is_over) override;
	void ended(const analyze::Thread &thread, std::uint64_t time) override;
	void exchanged(const analyze::Thread &one, const analyze::Thread &other) override;

	const std::deque<ThreadStretches> &threads() const { return threads_; }
	// Index in threads(); nobody: the thread has no stretches.
	std::uint32_t find(const analyze::Thread &thread) const;
	const std::vector<Lead> &leads() const { return leads_; }
	Names &names() { return names_; }
	const Names &names() const { return names_; }
	// Whether events were lost in this time or directly before it.
	bool has_lost(std::uint64_t from, std::uint64_t to) const;
	bool has_hidden() const { return fold_.hidden_threads() > 0; }

private:
	struct Lane { // of a CPU
		const analyze::Thread *current = nullptr;
		ThreadStretches *stretches = nullptr;
		std::uint64_t unfound_from = 0, unfound_to = 0; // time whose thread is not known yet
		std::uint64_t interrupted = 0;                  // time of the last hardware interrupt
		const analyze::Thread *woken = nullptr;         // by the last event
		NetworkSoftirqs network;
		std::optional<Lead> completed; // request that the current interrupt completed
	};

	Lane &lane(std::uint32_t cpu);
	std::uint32_t known_cpu(std::uint32_t cpu) const { return cpu < fold_.cpus().size() ? cpu : unknown_cpu; }
	std::uint32_t index_of(const analyze::Thread &thread);
	void add(ThreadStretches &of, Stretch stretch, std::uint64_t to);
	void note_name(ThreadStretches &of, std::uint64_t since);
	void note_exit(const analyze::Thread &thread, ThreadStretches &of);
	void note_exec(const analyze::Thread &thread, const ThreadStretches &of);
	void woken(const analyze::Thread *thread, const trace::Event &event, const trace::FieldRef &cpu);
	void migrated(const analyze::EventKind &kind, const trace::Event &event, const analyze::Thread *just_woken);
	void created(const analyze::EventKind &kind, const trace::Event &event);
	void renamed(const analyze::EventKind &kind, const trace::Event &event);
	bool is_of_its_call(const analyze::Waker &waker) const;
	void set_end(Stretch &stretch, const analyze::Waker &waker);
	std::uint32_t call_of(const analyze::Thread &thread) const;
	void note_interrupt(const analyze::EventKind &kind, const trace::Event &event, Lane &on);
	void note_raise(const analyze::EventKind &kind, const trace::Event &event, Lane &on);
	void note_request(const analyze::EventKind &kind, const trace::Event &event, Lane &on);
	// The interrupt on this CPU has just ended this sleep: for whom did it work?
	void explain_interrupt(Stretch &stretch, const analyze::Cpu &cpu, std::uint64_t time);
	void lead(Stretch &stretch, Lead lead, std::uint64_t time);

	const analyze::ThreadFold &fold_;
	const Recorded recorded_;
	std::deque<ThreadStretches> threads_;
	std::unordered_map<const analyze::Thread *, std::uint32_t> indices_;
	std::vector<Lane> lanes_; // by CPU
	std::vector<trace::TimeRange> losses_;
	Requests requests_;
	std::vector<Lead> leads_;
	std::unordered_map<std::int32_t, ThreadStretches::Exchange> exits_; // the exit_group of a process
	Names names_;
};

} // namespace monitor::path
