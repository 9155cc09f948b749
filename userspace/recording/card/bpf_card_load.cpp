// SPDX-License-Identifier: MIT
// Loads the BPF card: configures its programs, selects those to load, and maps the rings and tables.
#include "bpf_card.h"

#include <algorithm>
#include <cstring>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>

#include "base/error.h"
#include "card.skel.h"
#include "classes.h"
#include "kernel_features.h"
#include "program_names.h"
#include "ring_layout.h"

namespace monitor::card {

void BpfCard::WakeupDeleter::operator()(ring_buffer *wakeup) const
{
	ring_buffer__free(wakeup);
}

BpfCard::BpfCard(const CardOptions &options) : options_(options)
{
	keep_warnings();
	if (!kernel_has_types())
		throw Error("this kernel has no type information (/sys/kernel/btf/vmlinux), which the BPF card needs; "
			    "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y (all stock distribution kernels are)");
	if (options_.module)
		module_ = std::make_unique<ModuleCard>(
		    options_.uuid, options_.cpus, blocks_by_ring(options_.blocks_per_cpu, false), options_.filtering,
		    options_.overwriting, options_.counters_in_set);
	skeleton_ = card__open();
	if (!skeleton_)
		throw Error(errno, "cannot open the BPF card: " + why_refused());
	stacks_ = std::make_unique<StackProbes>(skeleton_, options_.stacks, options_.cpus);
	samples_ = std::make_unique<SampleTimers>(skeleton_, module_ ? 0 : options_.sample_every_ns, options_.cpus);
	configure();
	if (int error = card__load(skeleton_); error < 0)
		throw Error(-error,
			    fmt::format("the kernel refused the BPF card ({}); `monitor doctor` says what is missing",
					why_refused()));
	if (!module_) {
		map_rings();
		open_wakeups();
	}
	watch_cgroups();
	late_cpus_.watch(skeleton_);
	stacks_->map();
	reset();
}

BpfCard::~BpfCard()
{
	links_.clear();
	fault_events_.detach();
	task_lists_ = {};
	areas_ = {};
	wakeup_.reset();
	firing_wakeup_.reset();
	cgroups_link_ = {};
	new_cgroups_.reset();
	traced_ = {};
	pending_ = {};
	trigger_states_ = {};
	if (skeleton_)
		card__destroy(skeleton_);
}

void BpfCard::configure()
{
	// One page after the blocks is never used: the verifier sees that whatever starts within the blocks fits.
	area_bytes_ = module_ ? module_->area_bytes() : EDC_CPU_HEADER + (options_.blocks_per_cpu + 1) * EDC_BLOCK_SIZE;
	skeleton_->rodata->last_start = area_bytes_ - EDC_BLOCK_SIZE;
	skeleton_->rodata->posts_to_module = module_ != nullptr;
	skeleton_->rodata->filtering = options_.filtering;
	skeleton_->rodata->overwriting = options_.overwriting && !module_;
	skeleton_->rodata->counting_only = options_.counts_only;
	skeleton_->rodata->timing = options_.times != 0;
	skeleton_->rodata->triggering = options_.triggers != 0;
	skeleton_->rodata->pausing = options_.pausing;
	skeleton_->rodata->sampling = options_.sampling && !module_;
	skeleton_->rodata->stack_triggers = options_.stack_triggers;
	skeleton_->rodata->start_triggers = options_.start_triggers;
	skeleton_->rodata->reading_triggers = options_.reading_triggers;
	skeleton_->rodata->first_trigger_reset = static_cast<__u32>(options_.resets.size());
	std::ranges::copy(options_.decisions, const_cast<__u16 *>(skeleton_->rodata->decisions));
	std::memcpy(const_cast<__u32 *>(skeleton_->rodata->uuid), options_.uuid.data(), options_.uuid.size());
	bpf_map__set_max_entries(skeleton_->maps.rings, module_ ? 1 : options_.cpus);
	bpf_map__set_max_entries(skeleton_->maps.pending, std::max(module_ ? 0 : options_.times, 1u));
	bpf_map__set_max_entries(skeleton_->maps.trigger_states, std::max(module_ ? 0 : options_.triggers, 1u));
	if (!module_)
		bpf_map__set_value_size(skeleton_->maps.rings, static_cast<__u32>(area_bytes_));
	if (options_.filtering)
		bpf_map__set_max_entries(skeleton_->maps.traced, EDC_PROCESS_NUMBERS / 64);
	bpf_program *program;
	bpf_object__for_each_program(program, skeleton_->obj)
	{
		const std::string name = bpf_program__name(program);
		const std::string event = class_of(name);
		if (program == skeleton_->progs.sample_here) {
			bpf_program__set_autoload(program, options_.sampling && !module_);
			continue;
		}
		if (program == skeleton_->progs.cgroup_mkdir) {
			bpf_program__set_autoload(program, !options_.counts_only && kernel_has_tracepoint(name));
			continue;
		}
		if (program == skeleton_->progs.cpuhp_enter) {
			LateCpus::configure(skeleton_, !module_ && !options_.counts_only);
			continue;
		}
		if (program == skeleton_->progs.list_progress) {
			bpf_program__set_autoload(program, options_.suspending);
			continue;
		}
		if (is_stack_timer(program) || (event == "sample" && !is_counters(name)))
			continue;
		if (program == skeleton_->progs.match_values) {
			bpf_program__set_autoload(program, options_.matching && !module_);
			continue;
		}
		if (is_function(name)) {
			functions_.configure(program, options_.has_probed_functions());
			continue;
		}
		if (is_every(name)) {
			bpf_program__set_autoload(program, options_.counters_every_ns && event == timer_tracepoint());
			continue;
		}
		if (is_reset(name) || is_counters(name)) {
			const bool counts = module_ && !options_.counters_in_set.empty() && wanted(event);
			bpf_program__set_autoload(program, is_counters(name) && counts);
			continue;
		}
		bool load = is_iterator(program) || is_fault_event(program) || kernel_has_tracepoint(event);
		if (!load && wanted(event) && !is_tp_program(name) && !is_plain(name))
			lacking_.push_back(event);
		if (event == "local_timer_entry" && wanted(event))
			load &= is_plain(name) != kernel_shows_interrupted_registers();
		load &= is_iterator(program) || (wanted(event) && !is_of_module(event));
		bpf_program__set_autoload(program, load);
	}
	configure_counters();
	stacks_->configure();
	bpf_program__set_autoload(skeleton_->progs.own_fault,
				  skeleton_->rodata->stacks_on &&
				      bpf_program__autoload(skeleton_->progs.page_fault_kernel));
	samples_->configure();
}

void BpfCard::configure_counters()
{
	const std::vector<unsigned> &sets = options_.counters_in_set;
	skeleton_->rodata->counter_sets = static_cast<__u32>(sets.size());
	for (std::size_t set = 0; set < sets.size(); ++set)
		const_cast<__u32 *>(skeleton_->rodata->counters_in_set)[set] = sets[set];
	skeleton_->rodata->counter_cpus = options_.cpus;
	skeleton_->rodata->counters_every_ns = options_.counters_every_ns;
	skeleton_->rodata->counters_reset = options_.reads_apart();
	for (std::size_t i = 0; i < options_.resets.size(); ++i)
		bpf_program__set_autoload(reset_program_of(i), true);
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

bool BpfCard::wanted(const std::string &program) const
{
	const std::string family = family_of(program);
	if (options_.counts_only && options_.filtering && program == "sched_wakeup_new")
		return true; // -p follows children
	if (options_.counts_only && (family == "syscall" || family == "irq") && program.ends_with("_exit"))
		return false; // there are as many as entries
	if (!options_.counts_only && family == "sched" && program != "sched_waking" && program != "sched_migrate_task")
		return true; // which threads run, and their names
	return std::ranges::find(options_.families, family) != options_.families.end();
}

bool BpfCard::is_of_module(const std::string &event) const
{
	return module_ && module_->has(event);
}

void BpfCard::map_rings()
{
	const auto map = [](const bpf_map *map, std::size_t size, const char *what) {
		void *address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
		if (address == MAP_FAILED)
			throw Error(errno, fmt::format("cannot map {}", what));
		return Mapping(address, size);
	};
	areas_ = map(skeleton_->maps.rings, area_bytes_ * options_.cpus, "the rings");
	if (options_.filtering)
		traced_ = map(skeleton_->maps.traced, EDC_PROCESS_NUMBERS / 8, "the filter");
	if (options_.times)
		pending_ = map(skeleton_->maps.pending, options_.times * sizeof(edc_pending_starts), "what is timed");
	if (options_.triggers)
		trigger_states_ = map(skeleton_->maps.trigger_states, options_.triggers * sizeof(edc_trigger_state),
				      "what triggers remember");
}

void BpfCard::open_wakeups()
{
	const auto open = [](const bpf_map *map) {
		const auto ignore = [](void *, void *, std::size_t) { return 0; };
		ring_buffer *wakeup = ring_buffer__new(bpf_map__fd(map), ignore, nullptr, nullptr);
		if (!wakeup)
			throw Error(errno, "cannot map the wake-ups of the rings");
		return wakeup;
	};
	wakeup_.reset(open(skeleton_->maps.bell));
	if (options_.triggers)
		firing_wakeup_.reset(open(skeleton_->maps.firing_bell));
}

// As long as the card is loaded, whatever else is attached.
void BpfCard::watch_cgroups()
{
	if (!bpf_program__autoload(skeleton_->progs.cgroup_mkdir))
		return;
	const auto take = [](void *card, void *group, std::size_t) {
		static_cast<BpfCard *>(card)->take_cgroup_(*static_cast<const edc_new_cgroup *>(group));
		return 0;
	};
	cgroups_link_ = Link(bpf_program__attach(skeleton_->progs.cgroup_mkdir));
	new_cgroups_.reset(ring_buffer__new(bpf_map__fd(skeleton_->maps.new_cgroups), take, this, nullptr));
	if (!cgroups_link_ || !new_cgroups_)
		throw Error(errno, "cannot watch for new cgroups");
}

void BpfCard::set_counter(unsigned set, unsigned index, unsigned cpu, int fd)
{
	const __u32 key = (set * EDC_COUNTERS_IN_SET + index) * options_.cpus + cpu;
	if (bpf_map__update_elem(skeleton_->maps.counters, &key, sizeof key, &fd, sizeof fd, BPF_ANY) < 0)
		throw Error(errno, "the BPF card cannot read a counter");
}

void BpfCard::set_matcher(const EventMatcher &matcher)
{
	if (const edc_matcher *tables = matcher.kernel_tables())
		skeleton_->data_matcher->matcher = *tables;
	for (const EventMatcher::Class &cls : matcher.classes)
		if (cls.is_counted()) // what a thread did is posted by the switch away from it, when it has ended
			counted_.insert(cls.name == "thread_counts" ? "sched_switch" : cls.name);
}

} // namespace monitor::card
