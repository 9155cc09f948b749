// SPDX-License-Identifier: MIT
#include "bpf_card.h"

#include <algorithm>
#include <cstring>
#include <set>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "card.skel.h"
#include "classes.h"
#include "kernel_features.h"
#include "monitor/function_table.h"
#include "monitor/matcher_trial.h"
#include "program_names.h"
#include "ring_layout.h"

namespace monitor::card {
namespace {

bool is_iterator(const bpf_program *program)
{
	return std::string_view(bpf_program__section_name(program)).find("iter/") != std::string_view::npos;
}

bool is_stack_timer(const bpf_program *program)
{
	return std::string_view(bpf_program__name(program)) == "stack_sample";
}

bool is_fault_event(const bpf_program *program)
{
	return std::string_view(bpf_program__section_name(program)).ends_with("perf_event") && !is_stack_timer(program);
}

} // namespace

void BpfCard::BellDeleter::operator()(ring_buffer *bell) const
{
	ring_buffer__free(bell);
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
		open_bell();
	}
	stacks_->map();
	reset();
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
		begun_ = map(skeleton_->maps.begun, options_.times * sizeof(edc_begun), "what is timed");
	if (options_.triggers)
		trigger_states_ = map(skeleton_->maps.trigger_states, options_.triggers * sizeof(edc_trigger_state),
				      "what triggers remember");
}

void BpfCard::open_bell()
{
	const auto open = [](const bpf_map *map) {
		const auto ignore = [](void *, void *, std::size_t) { return 0; };
		ring_buffer *bell = ring_buffer__new(bpf_map__fd(map), ignore, nullptr, nullptr);
		if (!bell)
			throw Error(errno, "cannot map the bell of the rings");
		return bell;
	};
	bell_.reset(open(skeleton_->maps.bell));
	if (options_.triggers)
		firing_bell_.reset(open(skeleton_->maps.firing_bell));
}

int BpfCard::bell() const
{
	return module_ ? module_->bell() : ring_buffer__epoll_fd(bell_.get());
}

void BpfCard::heard()
{
	if (module_)
		module_->heard();
	else
		ring_buffer__consume(bell_.get());
}

int BpfCard::firing_bell() const
{
	return module_ ? module_->bell() : ring_buffer__epoll_fd(firing_bell_.get());
}

short BpfCard::firing_events() const
{
	return module_ ? POLLPRI : POLLIN;
}

// The module's poll() looks at edc_reader.firings.
void BpfCard::heard_firings()
{
	if (!module_)
		ring_buffer__consume(firing_bell_.get());
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

std::vector<edc_begun_entry> BpfCard::take_overdue(unsigned trigger, std::uint64_t before)
{
	if (module_)
		return module_->take_overdue(trigger, before);
	std::vector<edc_begun_entry> overdue;
	auto *state = reinterpret_cast<edc_trigger_state *>(trigger_states_.data()) + trigger;
	for (edc_begun_entry &entry : state->begun.entry) {
		edc_begun_entry taken{};
		taken.begin = edc_begun_overdue(&entry, before, &taken.key);
		if (taken.begin)
			overdue.push_back(taken);
	}
	return overdue;
}

BpfCard::~BpfCard()
{
	links_.clear();
	fault_links_.clear();
	task_lists_ = {};
	areas_ = {};
	bell_.reset();
	firing_bell_.reset();
	traced_ = {};
	begun_ = {};
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
	bpf_map__set_max_entries(skeleton_->maps.begun, std::max(module_ ? 0 : options_.times, 1u));
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
		if (program == skeleton_->progs.list_progress) {
			bpf_program__set_autoload(program, options_.suspending);
			continue;
		}
		if (is_stack_timer(program) || (event == "sample" && !is_counters(name)))
			continue;
		if (program == skeleton_->progs.judge_values) {
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

void BpfCard::set_matcher(const EventMatcher &matcher)
{
	if (const edc_matcher *tables = matcher.kernel_tables())
		skeleton_->data_matcher->matcher = *tables;
	for (const EventMatcher::Class &cls : matcher.classes)
		if (cls.is_counted()) // what a thread did is posted by the switch away from it, when it has ended
			counted_.insert(cls.name == "thread_counts" ? "sched_switch" : cls.name);
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
			if (bpf_prog_test_run_opts(bpf_program__fd(skeleton_->progs.judge_values), &options) < 0 ||
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

// The module's probes judge too; the tables are theirs until the next call.
void BpfCard::judge(bool on)
{
	if (!options_.matching)
		return;
	if (module_)
		module_->match(on ? &skeleton_->data_matcher->matcher : nullptr, options_.times, options_.triggers);
	skeleton_->bss->judging = on;
}

void BpfCard::set_counter(unsigned set, unsigned index, unsigned cpu, int fd)
{
	const __u32 key = (set * EDC_COUNTERS_IN_SET + index) * options_.cpus + cpu;
	if (bpf_map__update_elem(skeleton_->maps.counters, &key, sizeof key, &fd, sizeof fd, BPF_ANY) < 0)
		throw Error(errno, "the BPF card cannot read a counter");
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

void BpfCard::attach(bool tp)
{
	std::vector<std::string> names;
	for (const ClassRow &row : kernel_classes())
		if (is_of_module(row.name) && wanted(row.name))
			names.emplace_back(row.name);
	bpf_program *program;
	bpf_object__for_each_program(
	    program,
	    skeleton_->obj) if (bpf_program__autoload(program) && !is_iterator(program) &&
				!is_tp_program(bpf_program__name(program)) &&
				!is_counters(bpf_program__name(program)) && !is_reset(bpf_program__name(program)) &&
				!is_function(bpf_program__name(program)) && program != skeleton_->progs.judge_values &&
				program != skeleton_->progs.sample_here) names.push_back(bpf_program__name(program));
	if (!options_.keeps_tokens)
		std::erase_if(names, [this](const std::string &name) {
			const bool follows_children = options_.filtering && name == "sched_wakeup_new"; // -p
			return !counted_.contains(class_of(name)) && !follows_children;
		});
	judge(true);
	attach_only(tp, names);
	for (std::size_t number = 0; number < options_.resets.size(); ++number)
		attach_reset(number);
	if (options_.has_probed_functions()) {
		functions_.attach({skeleton_->progs.function_entry, skeleton_->progs.function_exit}, options_.functions,
				  options_.leaves_functions_out);
		skeleton_->bss->counting_functions = options_.leaves_functions_out;
		attached_.insert(attached_.end(), {"function_entry", "function_exit"});
	}
	skeleton_->bss->stacks_running = 1;
	const auto is_sample = [](const std::string &name) { return class_of(name) == "sample"; };
	if (std::ranges::none_of(attached_, is_sample))
		return; // or they are neither kept nor counted
	if (module_ && options_.sample_every_ns)
		module_->sample_every(options_.sample_every_ns);
	else if (!module_)
		samples_->start();
}

std::vector<std::uint64_t> BpfCard::function_hits() const
{
	std::vector<std::uint64_t> hits(options_.functions.size());
	for (std::size_t number = 0; number < std::min<std::size_t>(hits.size(), EDC_MAX_FUNCTIONS); ++number)
		hits[number] = __atomic_load_n(&skeleton_->bss->function_hits[number], __ATOMIC_RELAXED);
	return hits;
}

Estimate BpfCard::time_function_event()
{
	if (!options_.has_probed_functions())
		return {};
	reset();
	const Estimate event = functions_.time_event({skeleton_->progs.function_entry, skeleton_->progs.function_exit});
	reset();
	return event;
}

Estimate BpfCard::time_sample()
{
	if (!samples_->any())
		return {};
	reset();
	const Estimate sample =
	    samples_->time_sample([this] { attach_program(samples_->program()); }, [this] { links_.clear(); });
	reset();
	return sample;
}

bpf_program *BpfCard::reset_program_of(std::size_t number) const
{
	return bpf_object__find_program_by_name(skeleton_->obj, reset_program(options_.resets[number], number).c_str());
}

bpf_program *BpfCard::trial_reset() const
{
	return resets_at_function() ? skeleton_->progs.reset_at_uprobe : skeleton_->progs.reset_at_tracepoint_0;
}

bool BpfCard::attach_trial_reset(const std::string &program, std::uint64_t offset)
{
	Link link(resets_at_function()
		      ? bpf_program__attach_uprobe(trial_reset(), false, ::getpid(), program.c_str(), offset)
		      : bpf_program__attach_raw_tracepoint(trial_reset(), "sys_enter"));
	if (!link)
		return false;
	links_.push_back(std::move(link));
	return true;
}

void BpfCard::attach_reset(std::size_t number)
{
	const ResetEvent &event = options_.resets[number];
	Link link(attach_reset_event(reset_program_of(number), event, number));
	if (!link)
		throw Error(errno, fmt::format("--reset-on {}: cannot attach a probe ({})", event.name, why_refused()));
	links_.push_back(std::move(link));
}

void BpfCard::attach_only(bool tp, const std::vector<std::string> &names)
{
	links_.clear();
	fault_links_.clear();
	attached_.clear();
	if (module_)
		module_->detach();
	attach_more(tp, names);
}

void BpfCard::attach_more(bool tp, const std::vector<std::string> &names)
{
	std::vector<std::string> of_module;
	for (const std::string &name : names) {
		if (is_of_module(name)) {
			if (wanted(name))
				of_module.push_back(name);
			attach_counters_of(name);
			continue;
		}
		bpf_program *program = bpf_object__find_program_by_name(skeleton_->obj, name.c_str());
		bpf_program *twin = bpf_object__find_program_by_name(skeleton_->obj, ("tp_" + name).c_str());
		if (tp && twin && bpf_program__autoload(twin) && try_attach(twin))
			program = twin; // the attempt fails if tracefs is not available
		else if (program && bpf_program__autoload(program))
			attach_program(program);
		else
			continue;
		attached_.push_back(bpf_program__name(program));
	}
	if (!module_)
		return;
	module_->attach(of_module);
	attached_.insert(attached_.end(), of_module.begin(), of_module.end());
}

// Called before the module's probe is attached: what is attached first runs first.
void BpfCard::attach_counters_of(const std::string &name)
{
	bpf_program *program = bpf_object__find_program_by_name(skeleton_->obj, ("counters_" + name).c_str());
	if (!program || !bpf_program__autoload(program))
		return;
	attach_program(program);
	attached_.push_back(bpf_program__name(program));
}

bool BpfCard::try_attach(bpf_program *program)
{
	Link link(bpf_program__attach(program));
	if (!link)
		return false;
	links_.push_back(std::move(link));
	return true;
}

void BpfCard::attach_program(bpf_program *program)
{
	const std::string name = bpf_program__name(program);
	if (is_fault_event(program))
		return attach_fault_event(program, name);
	if (is_stack_timer(program))
		return attach_timers(program);
	if (!try_attach(program))
		throw Error(errno, fmt::format("cannot attach the probe {} ({})", name, why_refused()));
}

void BpfCard::attach_fault_event(bpf_program *program, const std::string &name)
{
	for (const Fd *event : fault_events_.opened(name, options_.cpus))
		fault_links_.push_back(link_to_event(program, *event));
}

void BpfCard::attach_timers(bpf_program *program)
{
	for (const Fd &timer : stacks_->timers())
		links_.push_back(link_to_event(program, timer));
}

Link BpfCard::link_to_event(bpf_program *program, const Fd &event) const
{
	Fd fd(::dup(event.get()));
	Link link(bpf_program__attach_perf_event(program, fd.get()));
	if (!link)
		throw Error(errno,
			    fmt::format("cannot attach the probe {} ({})", bpf_program__name(program), why_refused()));
	fd.release(); // the link closes it
	return link;
}

// Closing a link does not end its program where tracepoints are preemptible: a task may be between the tracepoint and
// the program. So make the probes stop and wait for a grace period; after that no probe writes any more.
void BpfCard::detach()
{
	// The fault events' own counts end exactly with their probe: disable first, then read.
	fault_events_.disable();
	stacks_->stop_timers();
	samples_->stop();
	if (module_)
		module_->detach(); // also disables those events first
	for (unsigned cpu = 0; cpu < options_.cpus; ++cpu)
		__atomic_store_n(&area(cpu).reader.stopped, 1, __ATOMIC_SEQ_CST);
	wait_for_probes();
	final_fault_counts_ = fault_counts();
	skeleton_->bss->stacks_running = 0;
	judge(false);
	links_.clear();
	fault_links_.clear();
	functions_.detach();
	attached_.clear();
}

std::vector<edc_progress> BpfCard::list_progress() const
{
	return task_lists_.progress();
}

void BpfCard::suspend()
{
	// In this order the events' own counts are those of what the probes saw.
	fault_events_.disable();
	for (unsigned cpu = 0; cpu < options_.cpus; ++cpu)
		__atomic_store_n(&area(cpu).reader.stopped, 1, __ATOMIC_SEQ_CST);
	links_.clear();
}

unsigned BpfCard::resume(std::uint64_t since)
{
	unsigned marked = 0;
	for (unsigned cpu = 0; cpu < options_.cpus; ++cpu) {
		edc_ring &ring = area(cpu).level[0].ring; // no probe writes it now
		if (!ring.opened)
			continue; // what is before its first block is unknown anyway
		++marked;
		ring.discarded++;
		ring.last_time = std::max<__u64>(ring.last_time, since);
		ring.begin_time = ring.last_time - EDC_BLOCK_MAX_TICKS; // the next token opens a block
	}
	for (const std::string &name : attached_) {
		bpf_program *program = bpf_object__find_program_by_name(skeleton_->obj, name.c_str());
		if (program && !is_fault_event(program))
			attach_program(program);
	}
	for (unsigned cpu = 0; cpu < options_.cpus; ++cpu)
		__atomic_store_n(&area(cpu).reader.stopped, 0, __ATOMIC_SEQ_CST);
	fault_events_.enable();
	return marked;
}

void BpfCard::wait_for_probes() const
{
	if (::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) < 0)
		::usleep(100'000); // refused under nohz_full: sleep far longer than any probe runs
	for (int tries = 0; tries < 100; ++tries) {
		bool busy = false;
		for (unsigned cpu = 0; cpu < options_.cpus; ++cpu) {
			busy |= __atomic_load_n(&area(cpu).depth, __ATOMIC_ACQUIRE) != 0;
			for (const edc_slot &slot : area(cpu).slot)
				busy |= __atomic_load_n(&slot.taken, __ATOMIC_ACQUIRE) != 0;
		}
		if (!busy)
			return;
		::usleep(1000);
	}
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
		std::memset(begun_.data(), 0, begun_.size());
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

std::vector<ProgramMisses> BpfCard::misses() const
{
	std::vector<ProgramMisses> all;
	bpf_program *program;
	bpf_object__for_each_program(program, skeleton_->obj)
	{
		if (!bpf_program__autoload(program) || is_iterator(program))
			continue;
		bpf_prog_info info{};
		__u32 size = sizeof info;
		if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) == 0)
			all.push_back({bpf_program__name(program), info.recursion_misses});
	}
	return all;
}

std::vector<FaultCount> BpfCard::fault_counts() const
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
