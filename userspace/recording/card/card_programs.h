// SPDX-License-Identifier: MIT
// The BPF programs of the card: opens them, selects those that the recording needs and the kernel supports, sets their
// constants, and loads them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "card_memory.h"
#include "function_probes.h"

struct card;
struct bpf_program;

namespace monitor::card {

class CardPrograms {
public:
	// Opens the programs. Throws Error; so does load(), with the remedy, if the kernel rejects them.
	explicit CardPrograms(const CardMemory &memory);
	~CardPrograms();
	CardPrograms(const CardPrograms &) = delete;
	CardPrograms &operator=(const CardPrograms &) = delete;

	::card *skeleton() const { return skeleton_; }
	// The BPF object that they are opened from.
	static std::string_view object();

	// Between opening and loading.
	void configure(FunctionProbes &functions);
	// Chooses the plain classes (bpf/ring.bpf.h), after all other constants are set. With MONITOR_FULL_PROBES in
	// the environment, none.
	void choose_plain();
	void load();

	// Whether the class that this program posts is recorded.
	bool wanted(const std::string &program) const;
	bool is_of_module(const std::string &event) const;
	// Names to attach: classes of the module, and loaded programs.
	std::vector<std::string> names() const;
	bpf_program *find(const std::string &name) const; // null: there is none
	bpf_program *reset(std::size_t number) const;     // of CardOptions::resets
	bpf_program *trial_reset() const;
	// Requested classes that this kernel lacks.
	const std::vector<std::string> &lacking() const { return lacking_; }

private:
	void configure_constants();
	void configure_maps();
	void configure_counters();
	void select(bpf_program *program);

	const CardMemory &memory_;
	const CardOptions &options_;
	::card *skeleton_;
	std::vector<std::string> lacking_;
};

} // namespace monitor::card
