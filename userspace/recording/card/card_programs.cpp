// SPDX-License-Identifier: MIT
#include "card_programs.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <bpf/libbpf.h>
#include <fmt/format.h>

#include "base/error.h"
#include "card.skel.h"
#include "classes.h"
#include "kernel_features.h"
#include "monitor/matcher.h"
#include "program_names.h"

namespace monitor::card {

CardPrograms::CardPrograms(const CardMemory &memory)
    : memory_(memory), options_(memory.options()), skeleton_(card__open())
{
	if (!skeleton_)
		throw Error(errno, "cannot open the BPF card: " + first_warning());
}

std::string_view CardPrograms::object()
{
	std::size_t size = 0;
	const void *bytes = card__elf_bytes(&size);
	return {static_cast<const char *>(bytes), size};
}

CardPrograms::~CardPrograms()
{
	card__destroy(skeleton_);
}

void CardPrograms::load()
{
	if (int error = card__load(skeleton_); error < 0)
		throw Error(-error,
			    fmt::format("the kernel refused the BPF card ({}); `monitor doctor` says what is missing",
					first_warning()));
}

void CardPrograms::configure(FunctionProbes &functions)
{
	configure_constants();
	configure_maps();
	bpf_program *program;
	bpf_object__for_each_program(program, skeleton_->obj)
	{
		if (is_function(bpf_program__name(program)))
			functions.configure(program, options_.has_probed_functions());
		else
			select(program);
	}
	configure_counters();
}

void CardPrograms::configure_constants()
{
	const bool of_module = memory_.is_module();
	skeleton_->rodata->last_start = memory_.area_bytes() - EDC_BLOCK_SIZE;
	skeleton_->rodata->posts_to_module = of_module;
	skeleton_->rodata->filtering = options_.filtering;
	skeleton_->rodata->overwriting = options_.overwriting && !of_module;
	skeleton_->rodata->counting_only = options_.counts_only;
	skeleton_->rodata->switch_flags = kernel_switch_flags().known;
	skeleton_->rodata->matching = options_.matching;
	skeleton_->rodata->matching_rows = options_.matching && options_.matching_rows;
	skeleton_->rodata->timing = options_.times != 0;
	skeleton_->rodata->triggering = options_.triggers != 0;
	skeleton_->rodata->pausing = options_.pausing;
	skeleton_->rodata->sampling = options_.sampling && !of_module;
	skeleton_->rodata->stack_triggers = options_.stack_triggers;
	skeleton_->rodata->start_triggers = options_.start_triggers;
	skeleton_->rodata->reading_triggers = options_.reading_triggers;
	skeleton_->rodata->first_trigger_reset = static_cast<__u32>(options_.resets.size());
	std::ranges::copy(options_.decisions, const_cast<__u16 *>(skeleton_->rodata->decisions));
	std::memcpy(const_cast<__u32 *>(skeleton_->rodata->uuid), options_.uuid.data(), options_.uuid.size());
}

void CardPrograms::choose_plain()
{
	if (options_.filtering || options_.counts_only || options_.pausing || std::getenv("MONITOR_FULL_PROBES"))
		return;
	auto *plain = const_cast<__u64 *>(skeleton_->rodata->plain);
	for (unsigned slot = 0; slot < EDC_CARD_CLASSES; ++slot)
		if (options_.decisions[slot] == EDC_MATCH_KEEP && !skeleton_->rodata->stacks_at[slot])
			plain[slot / 64] |= std::uint64_t(1) << slot % 64;
}

void CardPrograms::configure_maps()
{
	const bool of_module = memory_.is_module();
	const auto &maps = skeleton_->maps;
	bpf_map__set_max_entries(maps.rings, of_module ? 1 : options_.cpus);
	bpf_map__set_max_entries(maps.pending, std::max(of_module ? 0 : options_.times, 1u));
	bpf_map__set_max_entries(maps.trigger_states, std::max(of_module ? 0 : options_.triggers, 1u));
	if (!of_module)
		bpf_map__set_value_size(maps.rings, static_cast<__u32>(memory_.area_bytes()));
	if (options_.traces())
		bpf_map__set_max_entries(maps.traced, EDC_PROCESS_NUMBERS / 64);
}

// Decides whether a program is loaded. Those of stacks and samples are decided by StackProbes and SampleTimers.
void CardPrograms::select(bpf_program *program)
{
	const auto &progs = skeleton_->progs;
	const bool of_module = memory_.is_module();
	const std::string name = bpf_program__name(program);
	const std::string event = class_of(name);
	const auto load_if = [program](bool load) { bpf_program__set_autoload(program, load); };
	if (is_tp_program(name) &&
	    (!options_.tp_programs || of_module)) // posting to the module's rings works in any context
		return load_if(false);
	if (program == progs.sample_here)
		return load_if(options_.sampling && !of_module);
	if (program == progs.cgroup_mkdir)
		return load_if(!options_.counts_only && kernel_has_tracepoint(name));
	if (program == progs.cpuhp_enter)
		return load_if(!of_module && !options_.counts_only && kernel_has_tracepoint(name));
	if (program == progs.list_progress)
		return load_if(options_.suspending);
	if (is_stack_timer(program) || (event == "sample" && !is_counters(name)))
		return;
	if (program == progs.match_values)
		return load_if(options_.matching && !of_module);
	if (is_every(name))
		return load_if(options_.counters_every_ns && event == timer_tracepoint());
	if (is_reset(name) || is_counters(name))
		return load_if(is_counters(name) && of_module && !options_.counters_in_set.empty() && wanted(event));
	const std::string tracepoint = tracepoint_of(event);
	bool load = is_iterator(program) || is_fault_event(program) || !tracepoint.empty();
	if (!load && wanted(event) && !is_tp_program(name) && !is_plain(name))
		lacking_.push_back(event);
	if (event == "local_timer_entry" && wanted(event))
		load &= is_plain(name) != kernel_shows_interrupted_registers();
	if (event == "block_io_start")
		load &= is_plain(name) == (tracepoint != event);
	load_if(load && (is_iterator(program) || (wanted(event) && !is_of_module(event))));
}

void CardPrograms::configure_counters()
{
	const std::vector<unsigned> &sets = options_.counters_in_set;
	skeleton_->rodata->counter_sets = static_cast<__u32>(sets.size());
	for (std::size_t set = 0; set < sets.size(); ++set)
		const_cast<__u32 *>(skeleton_->rodata->counters_in_set)[set] = sets[set];
	skeleton_->rodata->counter_cpus = options_.cpus;
	skeleton_->rodata->counters_every_ns = options_.counters_every_ns;
	skeleton_->rodata->counters_reset = options_.reads_apart();
	for (std::size_t i = 0; i < options_.resets.size(); ++i)
		bpf_program__set_autoload(reset(i), true);
	if (options_.reads_apart())
		bpf_program__set_autoload(trial_reset(), true);
	const auto &pairs = options_.ratios.pairs;
	skeleton_->rodata->ratio_bits = options_.ratios.bits;
	skeleton_->rodata->ratio_pairs = static_cast<__u32>(pairs.size());
	auto *counter = const_cast<__u32 *>(skeleton_->rodata->ratio_counter);
	for (const auto &[numerator, denominator] : pairs) {
		*counter++ = numerator;
		*counter++ = denominator;
	}
	bpf_map__set_max_entries(
	    skeleton_->maps.counters,
	    std::max<__u32>(static_cast<__u32>(sets.size()) * EDC_COUNTERS_IN_SET * options_.cpus, 1));
}

bool CardPrograms::wanted(const std::string &program) const
{
	const std::string family = family_of(program);
	if (options_.counts_only && options_.filtering && program == "sched_wakeup_new")
		return true; // -p follows children
	if (options_.counts_only && (family == "syscall" || family == "irq") && program.ends_with("_exit"))
		return false; // the exits equal the entries in number
	if (!options_.counts_only && family == "sched" && program != "sched_waking" && program != "sched_migrate_task")
		return true; // the current threads and their names
	return std::ranges::find(options_.families, family) != options_.families.end() &&
	       std::ranges::find(options_.left_out, class_of(program)) == options_.left_out.end();
}

bool CardPrograms::is_of_module(const std::string &event) const
{
	return memory_.is_module() && memory_.module()->has(event);
}

std::vector<std::string> CardPrograms::names() const
{
	std::vector<std::string> names;
	for (const ClassRow &row : kernel_classes())
		if (is_of_module(row.name) && wanted(row.name))
			names.emplace_back(row.name);
	const auto &progs = skeleton_->progs;
	bpf_program *program;
	bpf_object__for_each_program(program, skeleton_->obj)
	{
		const std::string name = bpf_program__name(program);
		if (bpf_program__autoload(program) && !is_iterator(program) && !is_tp_program(name) &&
		    !is_counters(name) && !is_reset(name) && !is_function(name) && program != progs.match_values &&
		    program != progs.sample_here && program != progs.cgroup_mkdir && program != progs.cpuhp_enter)
			names.push_back(name);
	}
	return names;
}

bpf_program *CardPrograms::find(const std::string &name) const
{
	return bpf_object__find_program_by_name(skeleton_->obj, name.c_str());
}

bpf_program *CardPrograms::reset(std::size_t number) const
{
	return find(reset_program(options_.resets[number], number));
}

bpf_program *CardPrograms::trial_reset() const
{
	return options_.resets_at_function() ? skeleton_->progs.reset_at_uprobe
					     : skeleton_->progs.reset_at_tracepoint_0;
}

} // namespace monitor::card
