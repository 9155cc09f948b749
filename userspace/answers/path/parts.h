// SPDX-License-Identifier: MIT
// Sums over the links of paths: running time by mode and call, waits for a CPU by what ran on it. For these the trace
// is folded a second time, and Parts observes that fold.
//
// Invariant: the sum is the paths' length exactly; time that no event explains is a part of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "reading/analyze/observer.h"
#include "walk.h"

namespace monitor::path {

enum class PartKind : std::uint8_t {
	user,
	call, // Part::detail: which
	fault,
	kernel,
	interrupt, // detail: kind << 16 | number
	unattributed,
	unknown_mode,
	ready_behind,     // detail: the name of the thread on the CPU
	ready_behind_own, // the same, and both are of one process or of the command
	ready_idle,       // the CPU was idle; detail: whether the wait was long
	ready_unknown,    // what ran on the CPU is not known
	throttled,        // ready, and its cgroup had used up its quota
	asleep,           // detail: the call
	unknown,          // detail: Why
};

// Why nothing is known of a thread.
enum class Why : std::uint8_t {
	lost,
	hidden,
	not_recorded,
	beside_hidden, // no event; perhaps it followed a hidden thread, whose switches have none
	no_event
};

struct Part {
	std::uint32_t who = 0;  // index in Stretches::threads(), or `name`
	std::uint32_t name = 0; // that the thread had then, a number of Stretches::names()
	std::uint32_t detail = 0;
	std::uint32_t sleep = 0; // the enclosing sleep, an index in Paths::sleeps()
	std::uint32_t cause = 0; // of what ended a sleep: Stretch::cause; device: MAJOR << 20 | MINOR
	End end = End::open;     // of a sleep
	PartKind kind = PartKind::unknown;

	bool operator==(const Part &) const = default;
};

struct PartHash {
	std::size_t operator()(const Part &part) const;
};

class Parts final : public analyze::TimeObserver {
public:
	enum class Who : std::uint8_t { name, thread };

	// `long_wait`: a wait for a CPU of this many ticks and more is long.
	Parts(Stretches &stretches, const Paths &paths, Who who, std::uint64_t long_wait = ~0ull);

	void spent(const analyze::Cpu &cpu, std::uint64_t from, std::uint64_t to, analyze::Mode mode,
		   bool is_idle) override;
	void moved(const analyze::Cpu &cpu, analyze::Mode from, analyze::Mode to, std::uint64_t ticks) override;
	// After the second fold.
	void finish();

	using Ticks = std::unordered_map<Part, std::uint64_t, PartHash>;
	const Ticks &ticks() const { return ticks_; }
	// Of a link, which is not time on a CPU or in its queue unless `kind` is given.
	Part part_of(const Link &link, std::uint64_t end, PartKind kind = PartKind::unknown) const;

private:
	struct Spent {
		std::uint64_t begin, end;
		analyze::Mode mode;
	};
	struct Piece { // of a running link
		Part part;
		std::uint64_t begin, end;
	};
	struct Active {
		std::uint32_t link;
		std::uint64_t covered;
	};
	struct Lane {                             // of a CPU
		std::vector<std::uint32_t> links; // that ran or waited there, by begin
		std::size_t next = 0;
		std::vector<Active> active;               // links that have begun and not ended
		const analyze::Thread *current = nullptr; // the running thread; since it was switched in:
		std::vector<Spent> spent;                 // from the first piece on
		std::vector<Piece> pieces;
		std::uint32_t name = 0; // of `current`
	};

	Why why_unknown(const Link &link, std::uint64_t end) const;
	std::uint32_t name_of(Lane &lane, const analyze::Thread &thread);
	Part running(const Link &link, const analyze::Cpu &cpu, analyze::Mode mode, Lane &lane);
	Part waiting(std::uint32_t link_index, const analyze::Cpu &cpu, Lane &lane);
	void add(Lane &lane, Active &active, const analyze::Cpu &cpu, const Spent &spent);
	void add_unexplained(const Active &active);
	void move(std::vector<Piece> &pieces, std::uint64_t from, std::uint64_t to, analyze::Mode mode);

	Stretches &stretches_;
	const Paths &paths_;
	const Who who_;
	const bool has_hidden_; // threads
	const std::uint64_t long_wait_;
	std::vector<Lane> lanes_; // by CPU
	Ticks ticks_;
};

// Reads the trace again into `fold`. `each`: called with every event, after the fold has it.
void read_again(const trace::Trace &trace, analyze::ThreadFold &fold,
		const std::function<void(const trace::Event &)> &each = {});
// Reads the trace again to fill `parts`; `range`: of the wanted time.
void fill(Parts &parts, const trace::Trace &trace, const analyze::RecordingInfo &info, trace::TimeRange range);

} // namespace monitor::path
