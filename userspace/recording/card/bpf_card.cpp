// SPDX-License-Identifier: MIT
#include "bpf_card.h"

#include <algorithm>
#include <cstring>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <poll.h>
#include <unistd.h>

#include "base/error.h"
#include "card.skel.h"
#include "monitor/function_table.h"
#include "monitor/matcher_trial.h"
#include "program_names.h"
#include "ring_layout.h"

namespace monitor::card {

int BpfCard::wakeup_fd() const
{
	return module_ ? module_->wakeup_fd() : ring_buffer__epoll_fd(wakeup_.get());
}

void BpfCard::ack()
{
	if (module_)
		module_->ack();
	else
		ring_buffer__consume(wakeup_.get());
}

int BpfCard::firing_wakeup_fd() const
{
	return module_ ? module_->wakeup_fd() : ring_buffer__epoll_fd(firing_wakeup_.get());
}

short BpfCard::firing_events() const
{
	return module_ ? POLLPRI : POLLIN;
}

// The module's poll() looks at edc_reader.firings.
void BpfCard::heard_firings()
{
	if (!module_)
		ring_buffer__consume(firing_wakeup_.get());
}

int BpfCard::new_cgroups() const
{
	return new_cgroups_ ? ring_buffer__epoll_fd(new_cgroups_.get()) : -1;
}

void BpfCard::take_new_cgroups(const std::function<void(const edc_new_cgroup &)> &take)
{
	take_cgroup_ = take;
	if (new_cgroups_)
		ring_buffer__consume(new_cgroups_.get());
}

bool BpfCard::sample_all(std::uint32_t began_on, std::uint64_t number)
{
	if (module_)
		return began_on != EDC_CPU_UNKNOWN || module_->sample_once();
	if (began_on == EDC_CPU_UNKNOWN)
		number = __sync_fetch_and_add(&area(0).reader.sampled, 1) + 1;
	for (__u32 cpu = 0; cpu < options_.cpus; ++cpu) {
		__u64 arguments[] = {number, cpu == began_on};
		LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = arguments, .ctx_size_in = sizeof arguments,
			    .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);
		if (cpu != began_on || !options_.counters_in_set.empty())
			bpf_prog_test_run_opts(bpf_program__fd(skeleton_->progs.sample_here),
					       &run); // not if it is offline
	}
	return true;
}

std::uint64_t BpfCard::unsampled() const
{
	std::uint64_t sum = 0;
	for (unsigned cpu = 0; cpu < cpus(); ++cpu)
		sum += __atomic_load_n(&area(cpu).firings.unsampled, __ATOMIC_RELAXED);
	return sum;
}

bool BpfCard::pause(std::uint64_t time)
{
	return edc_pause(&area(0).reader.paused, time);
}

std::uint64_t BpfCard::resume()
{
	return edc_resume(&area(0).reader.paused);
}

std::vector<edc_pending_start> BpfCard::take_overdue(unsigned trigger, std::uint64_t before)
{
	if (module_)
		return module_->take_overdue(trigger, before);
	std::vector<edc_pending_start> overdue;
	auto *state = reinterpret_cast<edc_trigger_state *>(trigger_states_.data()) + trigger;
	for (edc_pending_start &entry : state->pending.entry) {
		edc_pending_start taken{};
		taken.begin = edc_pending_start_overdue(&entry, before, &taken.key);
		if (taken.begin)
			overdue.push_back(taken);
	}
	return overdue;
}

std::map<unsigned, double> BpfCard::time_judgements(const EventMatcher &matcher)
{
	constexpr int runs = 5; // the fastest: an interrupt only adds
	std::map<unsigned, double> times;
	for (const EventMatcher::Class &cls : matcher.classes) {
		if (module_ || (cls.patterns == 0 && cls.belongs == 0) ||
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
	if (!module_)
		reset();
	return times;
}

std::vector<std::uint64_t> BpfCard::function_hits() const
{
	std::vector<std::uint64_t> hits(options_.functions.size());
	for (std::size_t number = 0; number < std::min<std::size_t>(hits.size(), EDC_MAX_FUNCTIONS); ++number)
		hits[number] = __atomic_load_n(&skeleton_->bss->function_hits[number], __ATOMIC_RELAXED);
	return hits;
}

CalibratedCost BpfCard::time_function_event()
{
	if (!options_.has_probed_functions())
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
	if (options_.overwriting) // no trigger can hold the rings before the recorder expects it
		area(0).reader.hold = EDC_HOLD_UNARMED;
}

void BpfCard::empty()
{
	if (module_)
		return module_->reset();
	if (options_.filtering)
		std::memset(traced_.data(), 0, traced_.size());
	if (options_.times)
		std::memset(pending_.data(), 0, pending_.size());
	if (options_.triggers)
		std::memset(trigger_states_.data(), 0, trigger_states_.size());
	if (stacks_)
		stacks_->reset();
	const auto blocks = blocks_by_ring(options_.blocks_per_cpu, rings() > EDC_CARD_LEVELS);
	for (unsigned cpu = 0; cpu < options_.cpus; ++cpu) {
		edc_cpu &shared = area(cpu);
		std::memset(&shared, 0, sizeof shared);
		std::uint64_t offset = EDC_CPU_HEADER;
		for (unsigned level = 0; level < rings(); ++level) {
			edc_ring &ring = shared.level[level].ring;
			ring.first = offset;
			ring.blocks = blocks[level];
			ring.stream_instance_id = 1 + cpu * rings() + level;
			offset += blocks[level] * EDC_BLOCK_SIZE;
		}
	}
}

edc_cpu &BpfCard::area(unsigned cpu) const
{
	return *reinterpret_cast<edc_cpu *>(memory(cpu));
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
	if (is_of_module("minor_fault") && wanted("minor_fault")) {
		const edc_device_faults counts = module_->faults();
		return {{"minor_fault", counts.minor}, {"major_fault", counts.major}};
	}
	if (fault_events_.empty() || attached_.empty())
		return final_fault_counts_;
	return fault_events_.counts();
}

void BpfCard::prepare_task_lists(unsigned lists)
{
	task_lists_.prepare(skeleton_->progs.list_tasks, lists,
			    options_.suspending ? skeleton_->progs.list_progress : nullptr);
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

void BpfCard::trace_process(int pid, bool is_traced)
{
	if (module_)
		return module_->trace(pid, is_traced);
	if (pid <= 0 || pid >= EDC_PROCESS_NUMBERS)
		return; // no process has this number
	auto *words = reinterpret_cast<std::uint64_t *>(traced_.data());
	const std::uint64_t bit = std::uint64_t(1) << (pid % 64);
	if (is_traced)
		__atomic_fetch_or(&words[pid / 64], bit, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&words[pid / 64], ~bit, __ATOMIC_RELAXED);
}

} // namespace monitor::card
