// SPDX-License-Identifier: MIT
// Probes at functions of programs, for `record --functions`: at the first instruction, and at each that leaves it.
// The addresses come from recording/functions/, the programs are bpf/function.bpf.c. Attaches all of a file by one link
// if the kernel has uprobe_multi, else one by one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "bpf_link.h"
#include "rounds.h"

struct bpf_program;

namespace monitor::card {

// An instruction that leaves the function.
struct FunctionExit {
	std::uint64_t offset = 0;
	static constexpr unsigned max_condition = 16;
	std::uint8_t condition = 0; // of a jump: 0 always, else 1 + its number in the instruction
};

// A place where the program patches itself instead, and its edc_sled_kind.
struct FunctionSled {
	std::uint64_t offset = 0;
	std::uint16_t kind = 0;
};

struct Function {
	std::string name; // unique
	std::string path;
	std::uint64_t entry = 0; // offsets are those in the file
	std::vector<FunctionExit> exits;
	std::vector<FunctionSled> sleds; // of entry and all exits; empty: it is probed

	bool is_probed() const { return sleds.empty(); }
};

class FunctionProbes {
public:
	struct Programs {
		bpf_program *entry, *exit;
	};

	// Before the program is loaded.
	void configure(bpf_program *program, bool is_wanted);
	// A function's number is its index. `each`: attach so that each can be detached alone. Throws Error.
	void attach(const Programs &programs, const std::vector<Function> &functions, bool each);
	void detach();
	// Detaches one function, its entry first. Needs no privilege.
	void detach(std::size_t number);
	// The cost of an event, measured with functions of this program: low if the kernel emulates the probed
	// instruction, high if it must single-step it out of line. No rounds: not measured.
	CalibratedCost time_event(const Programs &programs);

private:
	struct Places;
	static void add_places(const Function &function, std::size_t number, Places &entries, Places &exits);
	void attach_each(const Programs &programs, const std::vector<Function> &functions,
			 const std::vector<std::size_t> &numbers);
	bool attach_both(const Programs &programs, const std::string &path, const Places &entries, const Places &exits,
			 std::size_t number);
	std::optional<double> time_call(const Programs &programs, void (*function)());
	bool attach_all(const bpf_program *program, const std::string &path, const Places &places, std::size_t number);

	struct Links {
		std::vector<Fd> multi;
		std::vector<Link> single;
	};
	static constexpr std::size_t all = ~std::size_t{0};

	bool multi_ = false;
	std::map<std::size_t, Links> links_; // by function number; or one entry for all
};

} // namespace monitor::card
