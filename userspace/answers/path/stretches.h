// SPDX-License-Identifier: MIT
// What each thread did, as stretches of its time: running, ready, throttled, blocked, unknown; of a sleep who ended it.
// Observes a ThreadFold, and gets each event once the fold has it. A path (walk.h) is followed through them, backwards.
//
// Invariant: a thread's stretches touch and are in the order of time; what no token determines is a stretch `unknown`.
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
// In place of a call: a page fault, or not known.
inline constexpr std::uint32_t in_fault = 0xffffff, unknown_call = 0xfffffe;

enum class Kind : std::uint8_t { unknown, running, ready, throttled, blocked };

// What ended a sleep.
enum class End : std::uint8_t {
	open,         // it goes on at the end
	thread,       // Stretch::cause
	interrupt,    // whose cause is not known
	device,       // a block device, by completing a request
	network,      // a network device, by its interrupt
	led,          // only of a Stretch: see Lead
	hidden,       // a thread that the kernel hides
	not_recorded, // where a thread ran that -p did not select; an interrupt there has no token
	unknown
};

struct Stretch {
	std::uint64_t begin = 0; // ends where the next one begins
	// thread: its place in Stretches::threads(); interrupt: which << 16 | its number; network: that of the device's
	// interrupt; led: by place in Stretches::leads(); not_recorded: the process.
	std::uint32_t cause = 0;
	std::uint32_t where : 24 = 0; // the CPU, or that of its queue; blocked: the call, in_fault or EDC_NO_SYSCALL
	Kind kind : 4 = Kind::unknown;
	End end : 4 = End::open;
};
static_assert(sizeof(Stretch) == 16);

// What ended a sleep had been begun by a thread, and until then nobody waited for that thread, but for this.
struct Lead {
	std::uint64_t begin = 0;       // 0: not known
	std::uint32_t thread = nobody; // by place; nobody: not known
	std::uint32_t cause = 0;       // device: MAJOR << 20 | MINOR; interrupt: as in Stretch
	End end = End::open;           // device, interrupt
};

struct ThreadStretches {
	struct Exchange {
		std::uint64_t time;
		std::uint32_t other;
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
	std::uint64_t end = 0;           // of the last one
	std::uint32_t creator = nobody;  // by place
	std::uint64_t executed = 0;      // its first exec; 0: none
	std::uint64_t died = 0;          // 0: it did not
	std::vector<Exchange> exchanges; // of numbers, by an exec: before, it was the other thread
	std::vector<Name> names;         // by place in Stretches::names()
	std::vector<Queue> queues;       // of the wait that has not ended

	std::uint32_t name_at(std::uint64_t time) const;
	struct Found {
		const Stretch *stretch; // null: there is none
		std::uint64_t end;
	};
	// The last one that begins before `time`.
	Found before(std::uint64_t time) const;
};

// Each text once, first that of an unknown name.
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
	struct Recorded {                                              // all of them, of all threads
		bool interrupts = true, calls = true, requests = true; // the latter to block devices, if any
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
	// By place in threads(); nobody: it did nothing.
	std::uint32_t find(const analyze::Thread &thread) const;
	const std::vector<Lead> &leads() const { return leads_; }
	Names &names() { return names_; }
	const Names &names() const { return names_; }
	// Whether events were lost in this time, or at its begin.
	bool has_lost(std::uint64_t from, std::uint64_t to) const;
	bool has_hidden() const { return fold_.hidden_threads() > 0; }

private:
	struct Lane { // of a CPU
		const analyze::Thread *current = nullptr;
		ThreadStretches *stretches = nullptr;
		std::uint64_t unfound_from = 0, unfound_to = 0; // its thread is not known yet
		std::uint64_t interrupted = 0;                  // the last hardware interrupt
		const analyze::Thread *woken = nullptr;         // by the last event
		NetworkSoftirqs network;
		std::optional<Lead> completed; // a request, in the interrupt that is handled
	};

	Lane &lane(std::uint32_t cpu);
	std::uint32_t known_cpu(std::uint32_t cpu) const { return cpu < fold_.cpus().size() ? cpu : unknown_cpu; }
	std::uint32_t place(const analyze::Thread &thread);
	void add(ThreadStretches &of, Stretch stretch, std::uint64_t to);
	void note_name(ThreadStretches &of, std::uint64_t since);
	void woken(const analyze::Thread *thread, const trace::Event &event, const trace::FieldRef &cpu);
	void migrated(const analyze::EventKind &kind, const trace::Event &event, const analyze::Thread *just_woken);
	void created(const analyze::EventKind &kind, const trace::Event &event);
	bool is_of_its_call(const analyze::Waker &waker) const;
	void set_end(Stretch &stretch, const analyze::Waker &waker);
	std::uint32_t call_of(const analyze::Thread &thread) const;
	void note_interrupt(const analyze::EventKind &kind, const trace::Event &event, Lane &on);
	void note_raise(const analyze::EventKind &kind, const trace::Event &event, Lane &on);
	void note_request(const analyze::EventKind &kind, const trace::Event &event, Lane &on);
	// What the interrupt on this CPU works for, which has just ended this sleep.
	void explain_interrupt(Stretch &stretch, const analyze::Cpu &cpu, std::uint64_t time);
	void lead(Stretch &stretch, Lead lead, std::uint64_t time);

	const analyze::ThreadFold &fold_;
	const Recorded recorded_;
	std::deque<ThreadStretches> threads_;
	std::unordered_map<const analyze::Thread *, std::uint32_t> places_;
	std::vector<Lane> lanes_; // by CPU
	std::vector<trace::TimeRange> losses_;
	Requests requests_;
	std::vector<Lead> leads_;
	Names names_;
};

} // namespace monitor::path
