// SPDX-License-Identifier: MIT
#include "recording_file.h"

#include <algorithm>
#include <ctime>
#include <set>

#include <sys/utsname.h>

#include "base/date_text.h"
#include "base/fd.h"
#include "base/this_boot.h"
#include "recording/card/classes.h"
#include "recording/card/kernel_features.h"
#include "recording/pmu/machine.h"

namespace monitor::record {
namespace {

constexpr std::pair<unsigned, const char *> stack_kinds[] = {{EDC_STACK_KIND_SWITCH, "switch"},
							     {EDC_STACK_KIND_WAKING, "waking"},
							     {EDC_STACK_KIND_FAULT, "fault"},
							     {EDC_STACK_KIND_OTHER, "other"}};

constexpr std::pair<unsigned, const char *> switch_flags[] = {
    {EDC_SWITCH_THROTTLED, "throttled"}, {EDC_SWITCH_IOWAIT, "iowait"}, {EDC_SWITCH_MEMSTALL, "memstall"}};

std::uint64_t lost_on(const edc_cpu &area)
{
	std::uint64_t lost = 0;
	for (unsigned slot = 0; slot < EDC_CARD_CLASSES; ++slot) {
		lost += area.too_deep[slot];
		for (const edc_level &level : area.level)
			lost += level.discarded[slot];
	}
	return lost;
}

std::string date_now()
{
	return local_date(std::time(nullptr), "%FT%T%z");
}

// Calls `call(id, name, family)` for each kernel class.
template <class Call> void visit_classes(Call &&call)
{
	for (const card::ClassRow &row : card::kernel_classes())
		call(row.id, row.name, row.family);
	for (unsigned id = EDC_ID_COUNTERS; id < EDC_ID_COUNTERS_SCALED + EDC_COUNTER_SETS; ++id)
		call(id, "counters", "counters");
	call(EDC_ID_RATIOS, "ratios", "counters");
	call(EDC_ID_COUNTERS_RESET, "counters_reset", "reset");
}

recording_file::ClassCounts counts_of(const card::BpfCard &card, unsigned id, const char *name, const char *family)
{
	const unsigned slot = id - EDC_ID_KERNEL_FIRST;
	recording_file::ClassCounts counts{id, name, family};
	for (unsigned cpu = 0; cpu < card.cpus(); ++cpu) {
		const edc_cpu &area = card.area(cpu);
		counts.too_deep += area.too_deep[slot];
		for (const edc_level &level : area.level) {
			counts.seen += level.seen[slot];
			counts.discarded += level.discarded[slot];
			counts.filtered += level.filtered[slot];
			counts.paused += level.paused[slot];
		}
	}
	counts.seen += counts.too_deep;
	return counts;
}

recording_file::TriggerInfo trigger_info(const NamedTrigger &trigger, const TriggerAccount &account,
					 const ActCounts &acts)
{
	recording_file::TriggerInfo info;
	static_cast<ActCounts &>(info) = acts;
	info.name = trigger.name;
	info.when = trigger.when;
	info.what = trigger.what;
	info.key = trigger.first_key;
	info.mark = trigger.mark();
	info.fired = account.fired;
	info.by_programs = account.by_programs;
	if (trigger.needs_recorder())
		info.delivered = account.delivered;
	if (trigger.samples()) {
		info.samples = account.samples;
		info.samples_left_out = account.samples_left_out;
	}
	std::vector<std::uint64_t> reactions = account.reaction_ns;
	if (reactions.empty())
		return info;
	std::ranges::sort(reactions);
	info.reaction_median_ns = reactions[reactions.size() / 2];
	info.reaction_p99_ns = reactions[reactions.size() * 99 / 100];
	info.reaction_max_ns = reactions.back();
	return info;
}

} // namespace

void add_origin(Contents &file, const Options &options, int command_pid, const std::string &user, const Uuid &uuid)
{
	utsname system{};
	::uname(&system);
	file.version = 1;
	file.state = "incomplete";
	file.uuid = uuid_text(uuid);
	file.command = options.command;
	file.command_pid = command_pid;
	file.note = options.note;
	file.user = user;
	file.host = system.nodename;
	file.kernel = system.release;
	file.machine = system.machine;
	file.is_virtual = pmu::is_virtual_machine();
	file.irq_time_taken_out = card::kernel_takes_irq_time_out();
	file.boot_id = this_boot();
	file.date = date_now();
	file.filter.pids.assign(options.pids.begin(), options.pids.end());
	file.filter.command = options.only_command;
	if (options.statistics)
		file.statistics = {options.statistics->period_ns, options.statistics->keep_ns,
				   options.statistics->counts_only};
}

void add_matching(Contents &file, const MatcherRequest &request, const EventMatcher &matcher)
{
	file.has_tokens &= request.keeps_tokens;
	if (!request.filter)
		return;
	// A class may have a short and a long form of the same name.
	std::map<std::string, std::set<unsigned>> decisions;
	std::set<std::string> always, part, none;
	for (const EventMatcher::Class &cls : matcher.classes) {
		decisions[cls.name].insert(cls.decision);
		if (cls.is_always_kept && cls.id >= EDC_ID_KERNEL_FIRST)
			always.insert(cls.name);
	}
	for (const auto &[name, of_name] : decisions)
		if (of_name != std::set<unsigned>{EDC_MATCH_KEEP})
			(of_name == std::set<unsigned>{EDC_MATCH_NONE} ? none : part).insert(name);
	file.filter.expression = *request.filter;
	file.filter.always.assign(always.begin(), always.end());
	file.filter.part.assign(part.begin(), part.end());
	file.filter.none.assign(none.begin(), none.end());
}

void add_triggers(Contents &file, const std::vector<NamedTrigger> &triggers, const Triggers &fired,
		  const std::vector<ActCounts> &acts, const std::optional<card::UserCounts> &users)
{
	const std::vector<TriggerAccount> accounts = fired.accounts();
	file.triggers.clear();
	for (std::size_t i = 0; i < triggers.size(); ++i)
		file.triggers.push_back(trigger_info(triggers[i], accounts[i], acts[i]));
	file.triggers_forgotten = fired.forgotten() + (users ? users->forgotten : 0);
	file.triggers_without_token = fired.without_token();
	file.triggers_until = fired.checked_until();
	file.unsampled = fired.unsampled();
	file.pauses = fired.pauses();
	if (users)
		file.program_triggers_until = users->missed_until;
}

void add_other_recorders(Contents &file, const std::vector<pid_t> &others)
{
	for (const pid_t other : others)
		if (!std::ranges::count(file.other_recorders, other))
			file.other_recorders.push_back(other);
}

void add_calibration(Contents &file, const card::Calibration &calibration)
{
	auto factors = file.calibration ? std::move(file.calibration->factors) : recording_file::CodeFactors();
	file.calibration.emplace().start = calibration.costs;
	file.calibration->factors = std::move(factors);
	file.cost_ns = {{"call_edge", calibration.call_edge}, {"fault_edge", calibration.fault_edge}};
	for (const auto &[what, cost] : calibration.costs)
		file.cost_ns[what] = cost.median;
}

recording_file::Functions recorded_functions(const functions::FoundFunctions &found)
{
	recording_file::Functions all;
	for (const card::Function &function : found.functions)
		all.chosen.push_back({function.name, function.path, function.entry, function.exits.size(),
				      function.is_probed() ? "uprobe" : "patch"});
	for (const functions::LeftOut &function : found.left_out)
		all.left_out.push_back({function.name, function.why});
	return all;
}

void add_card(Contents &file, const card::BpfCard &card)
{
	file.card = card.is_module() ? "module" : "bpf";
	file.cpus = card.cpus();
	file.families = card.options().families;
	file.left_out = card.options().left_out;
	file.programs = card.attached();
	file.lacking = card.lacking();
	file.switch_flags.clear();
	for (const auto &[bit, name] : switch_flags)
		if (std::ranges::count(file.programs, "sched_switch") && card::kernel_switch_flags().known & bit)
			file.switch_flags.emplace_back(name);
	file.ring_bytes = card.ring_bytes();
}

void add_card_counts(Contents &file, const card::BpfCard &card)
{
	file.classes.clear();
	visit_classes([&](unsigned id, const char *name, const char *family) {
		if (auto counts = counts_of(card, id, name, family); counts.seen != 0)
			file.classes.push_back(std::move(counts));
	});
	file.lost_by_cpu.clear();
	file.clamped = 0;
	for (unsigned cpu = 0; cpu < card.cpus(); ++cpu) {
		file.lost_by_cpu.push_back(lost_on(card.area(cpu)));
		for (const edc_level &level : card.area(cpu).level)
			file.clamped += level.ring.clamped;
	}
	file.misses.end = card.misses();
	for (const auto &[event, count] : card.fault_counts())
		if (std::ranges::count(file.programs, event))
			file.fault_counts[event] = count;
}

// For a CPU that came online several times, merges the opened events.
void add_late_cpu(Contents &file, const recording_file::LateCpu &late)
{
	const auto known = std::ranges::find(file.late_cpus, late.cpu, &recording_file::LateCpu::cpu);
	if (known == file.late_cpus.end())
		file.late_cpus.push_back(late);
	else
		std::erase_if(known->opened,
			      [&](const std::string &name) { return !std::ranges::count(late.opened, name); });
}

std::map<std::string, std::uint64_t> by_name(const CountsByClass &counts)
{
	std::map<std::string, std::uint64_t> sums; // a class may have a short and a long form
	for (const card::ClassRow &row : card::kernel_classes())
		sums[row.name] += counts.number[row.id - EDC_ID_KERNEL_FIRST];
	std::erase_if(sums, [](const auto &sum) { return sum.second == 0; });
	return sums;
}

recording_file::StackCounts stack_counts(const card::StackOptions &chosen, const card::StackMemory &memory,
					 const recording_file::UnwindCounts &unwinding)
{
	recording_file::StackCounts all;
	all.timer_hz = chosen.timer_hz;
	all.of_command = chosen.of_command;
	all.events = chosen.events;
	all.calls = chosen.calls;
	all.budget_percent = EDC_STACK_BUDGET_PERCENT;
	for (const auto &[kind, name] : stack_kinds) {
		recording_file::StacksAt of_kind;
		for (const edc_stack_cpu &cpu : memory.cpus) {
			of_kind.taken += cpu.at[kind].taken;
			of_kind.left_out += cpu.at[kind].skipped;
		}
		if (of_kind.taken || of_kind.left_out)
			all.at[name] = of_kind;
		all.taken_at_events += of_kind.taken;
		all.left_out += of_kind.left_out;
	}
	for (const edc_stack_cpu &cpu : memory.cpus) {
		std::uint64_t spent_of_cpu = 0;
		for (const edc_stack_account &account : cpu.at)
			spent_of_cpu += account.spent_ns;
		all.spent_at_events_ns += spent_of_cpu;
		all.max_spent_of_a_cpu_ns = std::max(all.max_spent_of_a_cpu_ns, spent_of_cpu);
		all.taken_at_timer += cpu.timer_taken;
		all.spent_at_timer_ns += cpu.timer_ns;
		all.timer_interrupts += cpu.interrupts;
	}
	all.unwinding = unwinding;
	return all;
}

recording_file::Moment moment_of(const Sync &sync)
{
	return {sync.time, sync.realtime_ns, {}};
}

void add_snapshot(Contents &file, const SnapshotAccount &account, const Writer &writer)
{
	file.date = date_now();
	visit_classes([&](unsigned id, const char *name, const char *family) {
		if (const std::uint64_t tokens = account.tokens_by_class[id])
			file.classes.push_back({id, name, family, tokens});
	});
	file.flight = {account.number,
		       account.request.why,
		       account.asked.time,
		       account.request.before_ns,
		       account.request.after_ns,
		       account.held_ns,
		       account.settled,
		       account.discarded(),
		       account.overwritten(),
		       0,
		       account.programs_since,
		       account.overwritten_blocks,
		       account.since,
		       {}};
	file.lost_by_cpu.assign(account.since.size(), 0);
	for (const RingPart &ring : account.rings) {
		file.lost_by_cpu.at(ring.cpu) += ring.discarded;
		file.flight->torn_blocks += ring.torn;
		if (ring.begin_time)
			file.flight->rings.push_back(
			    {ring.cpu, ring.level, ring.first, ring.overwritten, ring.discarded, ring.torn});
	}
	file.recorder = {0, account.cpu_ns,          account.wall_ns, writer.bytes(), writer.dropped_blocks(),
			 0, account.control_tokens()};
	file.streams = writer.packets();
	file.start = {account.from, {}, {}};
	file.end = moment_of(account.end);
}

void add_end(Contents &file, const std::string &reason, std::optional<int> command_exit, bool complete)
{
	file.end_reason = reason;
	file.command_exit = command_exit;
	if (complete)
		file.state = "complete";
}

void write_recording(const Contents &file, const std::string &directory)
{
	replace_file(directory + '/' + recording_file::file_name, text_of(file), 0600);
}

} // namespace monitor::record
