// SPDX-License-Identifier: MIT
// Stacks with what was spent at each: what folded, speedscope and pprof files are made of. From the call trees of a
// recording with stacks, or, without them, from waits: who slept, in which system call, and who woke it.
//
// Called by `monitor convert`. Invariant: the sums are those of the fold, but for times rounded to ns.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "answers/report/call_tree.h"
#include "output.h"
#include "reading/analyze/machine.h"
#include "reading/ctf/clock.h"
#include "reading/symbols/symbolizer.h"

namespace monitor::exporting {

struct Profile {
	struct Stack {
		std::vector<std::uint32_t> frames; // the outermost first
		std::uint64_t value = 0;
	};

	std::string name;     // cpu, offcpu, ...
	bool is_time = false; // values are ns, else counts
	std::vector<symbols::FrameName> frames;
	std::vector<Stack> stacks;

	std::uint64_t total() const;
};

// What a profile was made from.
struct ProfileOrigin {
	std::string title;         // the command and the host
	std::int64_t begin_ns = 0; // since 1970
	std::uint64_t duration_ns = 0;
	unsigned timer_hz = 0; // of stacks taken by a timer; 0: none were
};

Profile profile_of(const report::CallTree &tree, const trace::Clock &clock, report::StackBy by,
		   const std::string &name);

// Sums what threads waited for, without stacks. Fed by Machine.
class WaitFold : public analyze::Observer {
public:
	void blocked(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to,
		     const analyze::Waker &waker) override;

	// After Machine::finish(). Of threads that ran, as in `monitor report DIR offcpu`.
	Profile profile(const analyze::Machine &machine, const trace::Clock &clock) const;

private:
	struct Key {
		const analyze::Thread *thread;
		std::uint32_t call;
		const analyze::Thread *waker;
		std::int32_t interrupt;
		std::uint32_t number;

		auto operator<=>(const Key &) const = default;
	};
	std::map<Key, std::uint64_t> ticks_;
};

// One line for each stack: FRAME;FRAME;FRAME VALUE, times in us, as in `monitor report DIR stacks --folded`.
void write_folded(const Profile &profile, Output &output);
// https://www.speedscope.app/file-format-schema.json
void write_speedscope(const std::vector<Profile> &profiles, const ProfileOrigin &origin, Output &output);

} // namespace monitor::exporting
