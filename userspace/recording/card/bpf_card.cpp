// SPDX-License-Identifier: MIT
#include "bpf_card.h"

#include <algorithm>
#include <cerrno>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include "base/error.h"
#include "card.skel.h"
#include "kernel_features.h"
#include "monitor/function_table.h"
#include "monitor/matcher_trial.h"
#include "program_names.h"

namespace monitor::card {

namespace {

const CardOptions &expect_types(const CardOptions &options)
{
	collect_warnings();
	if (!kernel_has_types())
		throw Error("this kernel has no type information (/sys/kernel/btf/vmlinux), which the BPF card needs; "
			    "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y (all stock distribution kernels are)");
	return options;
}

} // namespace

BpfCard::BpfCard(const CardOptions &options)
    : CardMemory(expect_types(options)), programs_(*this), skeleton_(programs_.skeleton()),
      stacks_(std::make_unique<StackProbes>(skeleton_, options.stacks, options.cpus)),
      samples_(std::make_unique<SampleTimers>(skeleton_, module() ? 0 : options.sample_every_ns, options.cpus))
{
	programs_.configure(functions_);
	stacks_->configure();
	samples_->configure();
	programs_.choose_plain();
	programs_.load();
	map(*skeleton_);
	new_cgroups_.watch(skeleton_->progs.cgroup_mkdir, skeleton_->maps.new_cgroups, "new cgroups");
	new_cpus_.watch(skeleton_->progs.cpuhp_enter, skeleton_->maps.new_cpus, "CPUs that come online");
	stacks_->map();
	reset();
}

void BpfCard::set_counter(unsigned set, unsigned index, unsigned cpu, int fd)
{
	const __u32 key = (set * EDC_COUNTERS_IN_SET + index) * cpus() + cpu;
	if (bpf_map__update_elem(skeleton_->maps.counters, &key, sizeof key, &fd, sizeof fd, BPF_ANY) < 0)
		throw Error(errno, "the BPF card cannot read a counter");
}

void BpfCard::set_matcher(const EventMatcher &matcher)
{
	if (const edc_matcher *tables = matcher.kernel_tables())
		skeleton_->data_matcher->matcher = *tables;
	for (const EventMatcher::Class &cls : matcher.classes)
		if (cls.is_counted()) // thread_counts is posted by the last switch of a thread
			counted_.insert(cls.name == "thread_counts" ? "sched_switch" : cls.name);
}

bool BpfCard::sample_all(std::uint32_t began_on, std::uint64_t number)
{
	if (module())
		return began_on != EDC_CPU_UNKNOWN || module()->sample_once();
	if (began_on == EDC_CPU_UNKNOWN)
		number = __sync_fetch_and_add(&area(0).reader.sampled, 1) + 1;
	for (__u32 cpu = 0; cpu < cpus(); ++cpu) {
		__u64 arguments[] = {number, cpu == began_on};
		LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = arguments, .ctx_size_in = sizeof arguments,
			    .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);
		if (cpu != began_on || !options().counters_in_set.empty())
			bpf_prog_test_run_opts(bpf_program__fd(skeleton_->progs.sample_here),
					       &run); // not if it is offline
	}
	return true;
}

std::map<unsigned, double> BpfCard::time_judgements(const EventMatcher &matcher)
{
	constexpr int runs = 20; // the fastest counts: interrupts only add time
	std::map<unsigned, double> times;
	for (const EventMatcher::Class &cls : matcher.classes) {
		if (module() || (cls.patterns == 0 && cls.belongs == 0) ||
		    EventMatcher::group_of(cls.id) != EventMatcher::group_of(EDC_ID_KERNEL_FIRST))
			continue;
		for (int run = 0; run < runs; ++run) {
			edc_matcher_trial trial{};
			trial.slot = EventMatcher::slot_of(cls.id);
			trial.rounds = EDC_TRIAL_ROUNDS;
			bpf_test_run_opts options{};
			options.sz = sizeof options;
			options.ctx_in = &trial;
			options.ctx_size_in = sizeof trial;
			if (bpf_prog_test_run_opts(bpf_program__fd(skeleton_->progs.match_values), &options) < 0 ||
			    options.retval)
				break;
			const double ns = static_cast<double>(trial.ns) / EDC_TRIAL_ROUNDS;
			const auto [known, added] = times.try_emplace(cls.id, ns);
			known->second = std::min(known->second, ns);
		}
	}
	if (!module())
		reset();
	return times;
}

std::vector<std::uint64_t> BpfCard::function_hits() const
{
	std::vector<std::uint64_t> hits(options().functions.size());
	for (std::size_t number = 0; number < std::min<std::size_t>(hits.size(), EDC_MAX_FUNCTIONS); ++number)
		hits[number] = __atomic_load_n(&skeleton_->bss->function_hits[number], __ATOMIC_RELAXED);
	return hits;
}

CalibratedCost BpfCard::time_function_event()
{
	if (!options().has_probed_functions())
		return {};
	reset();
	const CalibratedCost event =
	    functions_.time_event({skeleton_->progs.function_entry, skeleton_->progs.function_exit});
	reset();
	return event;
}

CalibratedCost BpfCard::time_sample()
{
	if (!samples_->any())
		return {};
	reset();
	const CalibratedCost sample =
	    samples_->time_sample([this] { attach_program(samples_->program()); }, [this] { links_.clear(); });
	reset();
	return sample;
}

std::vector<edc_progress> BpfCard::list_progress() const
{
	return task_lists_.progress();
}

void BpfCard::reset()
{
	empty();
	if (!module())
		stacks_->reset();
	if (options().overwriting) // triggers cannot hold the rings before arm()
		area(0).reader.hold = EDC_HOLD_UNARMED;
}

edc_clock &BpfCard::clock() const
{
	return *reinterpret_cast<edc_clock *>(&skeleton_->bss->edc_clock);
}

std::map<std::string, std::uint64_t> BpfCard::misses() const
{
	std::map<std::string, std::uint64_t> all;
	bpf_program *program;
	bpf_object__for_each_program(program, skeleton_->obj)
	{
		const std::string name = bpf_program__name(program);
		if (!bpf_program__autoload(program) || is_iterator(program) || is_own_fault(name))
			continue;
		bpf_prog_info info{};
		__u32 size = sizeof info;
		if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) != 0)
			continue;
		const std::uint64_t own = name == "page_fault_kernel" ? stacks_->own_faults() : 0;
		all[name] = info.recursion_misses - std::min<std::uint64_t>(own, info.recursion_misses);
	}
	return all;
}

std::map<std::string, std::uint64_t> BpfCard::fault_counts() const
{
	if (programs_.is_of_module("minor_fault") && programs_.wanted("minor_fault")) {
		const edc_device_faults counts = module()->faults();
		return {{"minor_fault", counts.minor}, {"major_fault", counts.major}};
	}
	if (fault_events_.empty() || attached_.empty())
		return final_fault_counts_;
	return fault_events_.counts();
}

void BpfCard::prepare_task_lists(unsigned lists)
{
	task_lists_.prepare(skeleton_->progs.list_tasks, lists,
			    options().suspending ? skeleton_->progs.list_progress : nullptr);
}

std::vector<edc_task> BpfCard::list_tasks()
{
	return task_lists_.tasks();
}

void BpfCard::select(const std::vector<int> &pids)
{
	for (int pid : pids)
		trace_process(pid);
	Link link(bpf_program__attach_iter(skeleton_->progs.select_descendants, nullptr));
	if (!link)
		throw Error(errno, "cannot attach the task iterator");
	// Processes created during this are traced from their creation, so a few passes find all descendants.
	constexpr int max_passes = 100;
	int passes = 0;
	do {
		skeleton_->bss->newly_selected = 0;
		Fd pass(bpf_iter_create(bpf_link__fd(link.get())));
		char sink[64];
		while (::read(pass.get(), sink, sizeof sink) > 0)
			;
	} while (skeleton_->bss->newly_selected && ++passes < max_passes);
}

} // namespace monitor::card
