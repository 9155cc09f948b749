// SPDX-License-Identifier: MIT
#include "recording_file.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/encoding.h"
#include "base/json.h"
#include "metadata.h"
#include "recording/card/classes.h"
#include "recording/card/kernel_features.h"
#include "recording/counting/counter_classes.h"
#include "recording/periods/lives.h"
#include "recording/pmu/machine.h"
#include "recording/recorder/process_numbers.h"

namespace monitor::record {
namespace {

constexpr std::pair<unsigned, const char *> stack_kinds[] = {{EDC_STACK_KIND_SWITCH, "switch"},
							     {EDC_STACK_KIND_WAKING, "waking"},
							     {EDC_STACK_KIND_FAULT, "fault"},
							     {EDC_STACK_KIND_OTHER, "other"}};

std::string first_line(const std::string &text)
{
	return text.substr(0, text.find('\n'));
}

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

nlohmann::ordered_json class_counts(const card::BpfCard &card, const card::ClassRow &row)
{
	const unsigned slot = row.id - EDC_ID_KERNEL_FIRST;
	std::uint64_t seen = 0, refused = 0, filtered = 0, paused = 0, too_deep = 0;
	for (unsigned cpu = 0; cpu < card.cpus(); ++cpu) {
		const edc_cpu &area = card.area(cpu);
		too_deep += area.too_deep[slot];
		for (const edc_level &level : area.level) {
			seen += level.seen[slot];
			refused += level.discarded[slot];
			filtered += level.filtered[slot];
			paused += level.paused[slot];
		}
	}
	nlohmann::ordered_json json = {
	    {"id", row.id},       {"name", row.name},     {"family", row.family}, {"seen", seen + too_deep},
	    {"refused", refused}, {"too_deep", too_deep}, {"filtered", filtered}};
	if (paused)
		json["paused"] = paused;
	return json;
}

// The object of this name in another one, created if there is none. By itself the library creates one from nothing in
// two steps, and crashes on what is left if memory runs out between them.
nlohmann::ordered_json &object_in(nlohmann::ordered_json &parent, const char *name)
{
	return *parent.emplace(name, nlohmann::ordered_json::object()).first;
}

} // namespace

void RecordingFile::recording(const Options &options, int command_pid, const std::string &user,
			      const std::array<std::uint8_t, 16> &uuid)
{
	utsname system{};
	::uname(&system);
	json_["version"] = 1;
	json_["state"] = "incomplete";
	json_["uuid"] = uuid_text(uuid);
	json_["command"] = options.command;
	if (command_pid)
		json_["command_pid"] = command_pid;
	json_["note"] = options.note;
	json_["user"] = user;
	json_["host"] = system.nodename;
	json_["kernel"] = system.release;
	json_["machine"] = system.machine;
	json_["virtual"] = pmu::is_virtual_machine();
	json_["irq_time_taken_out"] = card::kernel_takes_irq_time_out();
	json_["boot_id"] = first_line(read_text("/proc/sys/kernel/random/boot_id"));
	json_["date"] = fmt::format("{:%Y-%m-%dT%H:%M:%S%z}", fmt::localtime(std::time(nullptr)));
	json_["filter"] = {{"pids", options.pids}, {"command", options.only_command}};
	if (options.statistics)
		json_["statistics"] = {{"period_ns", options.statistics->period_ns},
				       {"keep_ns", options.statistics->keep_ns}};
	if (options.statistics && options.statistics->counts_only)
		json_["statistics"]["counts_only"] = true;
}

void RecordingFile::matching(const MatcherRequest &request, const EventMatcher &matcher)
{
	if (!request.keeps_tokens)
		json_["tokens"] = false;
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
	auto &filter = object_in(json_, "filter");
	filter["expression"] = *request.filter;
	filter["always"] = always;
	filter["part"] = part;
	filter["none"] = none;
}

void RecordingFile::states(const StateSink &states, const std::vector<std::uint32_t> &cpus, const LiveEnd *end)
{
	auto &json = json_["states"] = {
	    {"name", states.tree_name()}, {"tree", states.tree_text()}, {"cpus", cpus}, {"begin", start_.time}};
	if (!end)
		return;
	json["end"] = end->time;
	json["late"] = end->late;
}

void RecordingFile::judgements(const std::map<unsigned, double> &times)
{
	for (const auto &[id, ns] : times)
		json_["judgements"].push_back({{"id", id}, {"ns", ns}});
}

void RecordingFile::counted(const Sync &since, const Sync &until)
{
	json_["counted"] = {{"since", since.time}, {"ns", until.monotonic_ns - since.monotonic_ns}};
}

void RecordingFile::counts(const std::vector<NamedExpression> &counts, const std::vector<EventCount> &counted)
{
	for (std::size_t i = 0; i < counts.size(); ++i)
		json_["counts"].push_back({{"name", counts[i].name},
					   {"expression", counts[i].expression},
					   {"count", counted[i].total()},
					   {"by_cpu", counted[i].by_cpu},
					   {"of_programs", counted[i].of_programs}});
}

void RecordingFile::times(const std::vector<NamedTime> &times, const std::vector<EventTime> &timed)
{
	for (std::size_t i = 0; i < times.size(); ++i) {
		auto buckets = nlohmann::ordered_json::array(), by_cpu = nlohmann::ordered_json::array();
		for (std::size_t bucket = 0; bucket < timed[i].buckets.size(); ++bucket)
			if (timed[i].buckets[bucket])
				buckets.push_back({bucket, timed[i].buckets[bucket]});
		for (const EventTime::OfCpu &cpu : timed[i].by_cpu)
			by_cpu.push_back({{"number", cpu.number}, {"total", cpu.total}});
		json_["times"].push_back({{"name", times[i].name},
					  {"start", times[i].start},
					  {"end", times[i].end},
					  {"start_key", times[i].start_key},
					  {"end_key", times[i].end_key},
					  {"number", timed[i].number},
					  {"total", timed[i].total},
					  {"shortest", timed[i].shortest},
					  {"longest", timed[i].longest},
					  {"starts", timed[i].starts},
					  {"replaced", timed[i].replaced},
					  {"forgotten", timed[i].forgotten},
					  {"ends", timed[i].ends},
					  {"buckets", buckets},
					  {"by_cpu", by_cpu}});
	}
}

void RecordingFile::triggers(const std::vector<NamedTrigger> &triggers, const Triggers &fired,
			     const std::vector<ActAccount> &acts, const std::optional<card::UserCounts> &users)
{
	auto all = nlohmann::ordered_json::array();
	const std::vector<TriggerAccount> accounts = fired.accounts();
	for (std::size_t i = 0; i < triggers.size(); ++i) {
		auto &json = all.emplace_back(nlohmann::ordered_json{{"name", triggers[i].name},
								     {"when", triggers[i].when},
								     {"do", triggers[i].what},
								     {"key", triggers[i].first_key},
								     {"fired", accounts[i].fired}});
		if (const std::string mark = triggers[i].mark(); !mark.empty())
			json["mark"] = mark;
		if (accounts[i].by_programs)
			json["by_programs"] = accounts[i].by_programs;
		if (triggers[i].needs_recorder())
			json["told"] = accounts[i].told;
		if (triggers[i].samples())
			json["samples"] = {{"taken", accounts[i].samples}, {"left_out", accounts[i].samples_left_out}};
		if (triggers[i].does(TriggerAct::Kind::run))
			json["runs"] = {{"started", acts[i].runs},
					{"failed", acts[i].runs_failed},
					{"running", acts[i].running},
					{"left_out", acts[i].runs_left_out}};
		if (triggers[i].does(TriggerAct::Kind::signal))
			json["signals"] = {{"sent", acts[i].signals}, {"refused", acts[i].signals_refused}};
		std::vector<std::uint64_t> reactions = accounts[i].reaction_ns;
		if (reactions.empty())
			continue;
		std::ranges::sort(reactions);
		json["reaction_ns"] = {{"median", reactions[reactions.size() / 2]},
				       {"p99", reactions[reactions.size() * 99 / 100]},
				       {"max", reactions.back()}};
	}
	json_["triggers"] = all;
	json_["triggers_forgotten"] = fired.forgotten() + (users ? users->forgotten : 0);
	if (const std::uint64_t without_token = fired.without_token())
		json_["triggers_without_token"] = without_token;
	json_["triggers_until"] = fired.looked_until();
	if (const std::uint64_t unsampled = fired.unsampled())
		json_["unsampled"] = unsampled;
	const PauseAccount pauses = fired.pauses();
	if (pauses.number)
		json_["pauses"] = {{"number", pauses.number}, {"ticks", pauses.ticks}};
	if (users)
		json_["program_triggers_until"] = users->missed_until;
}

void RecordingFile::other_recorders(const std::vector<pid_t> &others)
{
	for (const pid_t other : others) {
		nlohmann::ordered_json &all = json_["other_recorders"];
		if (std::find(all.begin(), all.end(), other) == all.end())
			all.push_back(other);
	}
}

void RecordingFile::preflight(const card::Preflight &test)
{
	json_["attach"] = test.tp ? "tp" : "tp_btf";
	json_["start_test"] = {{"calls", test.calls}, {"missing", test.missing}};
}

void RecordingFile::calibration(const char *when, const card::Calibration &calibration)
{
	auto &costs = json_["calibration"][when] = nlohmann::ordered_json::object();
	for (const auto &[what, cost] : calibration.costs)
		costs[what] = {{"low", cost.low},
			       {"median", cost.median},
			       {"high", cost.high},
			       {"off_difference", cost.off_difference},
			       {"rounds", cost.rounds}};
	if (json_.contains("cost_ns"))
		return;
	json_["cost_ns"] = {{"call_edge", calibration.call_edge}, {"fault_edge", calibration.fault_edge}};
	for (const auto &[what, cost] : calibration.costs)
		json_["cost_ns"][what] = cost.median;
}

void RecordingFile::no_calibration(const char *when, const std::string &why)
{
	json_["calibration"][when] = {{"why_not", why}};
}

void RecordingFile::phases(const PhaseAccount &account)
{
	constexpr const char *counters[EDC_PROGRESS_COUNTERS] = {"calls that read or wrote", "voluntary switches",
								 "page faults"};
	const PhaseEstimate &estimate = account.estimate;
	auto &json = json_["calibration"]["phases"];
	json = {{"number", account.number}, {"ticks", account.ticks},         {"marks", account.marks},
		{"used", estimate.phases},  {"detach_ms", account.detach_ms}, {"attach_ms", account.attach_ms},
		{"events", account.events}};
	if (!estimate.why_unknown.empty()) {
		json["why_unknown"] = estimate.why_unknown;
		return;
	}
	json["progress"] = counters[estimate.counter];
	json["low"] = estimate.low;
	json["median"] = estimate.median;
	json["high"] = estimate.high;
}

void RecordingFile::witness(const char *when, const std::vector<card::CallWitness> &calls)
{
	for (const card::CallWitness &cpu : calls)
		object_in(json_, "witness")[when].push_back({{"cpu", cpu.cpu},
							     {"calls", cpu.calls},
							     {"entries", cpu.entries},
							     {"exits", cpu.exits},
							     {"alone", cpu.alone},
							     {"brackets", cpu.brackets},
							     {"width", cpu.width_ticks},
							     {"outside", cpu.outside_ticks},
							     {"allowed", cpu.allowed_ticks}});
}

void RecordingFile::no_card()
{
	json_["card"] = "user";
	json_["families"] = nlohmann::ordered_json::array();
	json_["programs"] = nlohmann::ordered_json::array();
}

void RecordingFile::functions(const functions::FoundFunctions &found)
{
	auto &json = json_["functions"];
	for (const card::Function &function : found.functions)
		json["chosen"].push_back({{"name", function.name},
					  {"path", function.path},
					  {"offset", function.entry},
					  {"exits", function.exits.size()},
					  {"method", function.is_probed() ? "uprobe" : "patch"}});
	for (const functions::LeftOut &function : found.left_out)
		json["left_out"].push_back({{"name", function.name}, {"why_not", function.why}});
}

void RecordingFile::budget(double share)
{
	json_["functions"]["budget"] = {{"percent", 100 * share}, {"left_out", nlohmann::ordered_json::array()}};
}

void RecordingFile::left_out_by_budget(const LeftOutFunction &left_out, const std::string &name, std::uint64_t time)
{
	json_["functions"]["budget"]["left_out"].push_back({{"function", left_out.number},
							    {"name", name},
							    {"time", time},
							    {"seconds", left_out.seconds},
							    {"events", left_out.load.events},
							    {"event_ns", left_out.load.event_ns},
							    {"percent", 100 * left_out.share}});
}

void RecordingFile::card(const card::BpfCard &card, const std::vector<std::string> &families)
{
	json_["card"] = card.is_module() ? "module" : "bpf";
	json_["cpus"] = card.cpus();
	json_["families"] = families;
	json_["programs"] = card.attached();
	json_["lacking"] = card.lacking();
	json_["ring_bytes"] = card.ring_bytes();
}

void RecordingFile::counting(const Counting &counting)
{
	json_["counters"] = counters_json(counting);
}

void RecordingFile::counter_readings(const char *when, const std::vector<CounterReading> &readings)
{
	object_in(object_in(json_, "counters"), "readings")[when] = readings_json(readings);
}

void RecordingFile::skew(const char *when, const TscSkew &skew)
{
	object_in(json_, "tsc_skew")[when] = {{"ticks", skew.ticks},
					      {"uncertainty", skew.uncertainty},
					      {"cpus_compared", skew.cpus},
					      {"cpus_online", skew.online}};
}

void RecordingFile::misses(const char *when, const std::vector<card::ProgramMisses> &misses)
{
	for (const card::ProgramMisses &program : misses)
		object_in(object_in(json_, "misses"), when)[program.program] = program.misses;
}

void RecordingFile::start(const Sync &sync)
{
	start_ = sync;
	object_in(json_, "start")["time"] = sync.time;
	object_in(json_, "start")["realtime_ns"] = sync.realtime_ns;
	object_in(json_, "start")["monotonic_ns"] = sync.monotonic_ns;
}

void RecordingFile::kernel_counts(const char *when, const KernelCounts &counts)
{
	auto &json = object_in(json_, "kernel_counts")[when] = {{"before", counts.before},
								{"after", counts.after},
								{"context_switches", counts.context_switches},
								{"interrupts", counts.interrupts},
								{"steal_ns", counts.steal_ns},
								{"interrupt_rows", counts.interrupt_rows}};
	if (counts.softirqs)
		json["softirqs"] = *counts.softirqs;
	if (counts.thread_creations)
		json["births"] = *counts.thread_creations;
	if (counts.idle_ends)
		json["idle"] = {
		    {"before", counts.idle_before}, {"after", counts.idle_after}, {"ends", *counts.idle_ends}};
}

void RecordingFile::counted_around(const char *when, const ClassCounts &before, const ClassCounts &after)
{
	const auto by_name = [](const ClassCounts &counts) {
		std::map<std::string, std::uint64_t> sums; // a class may have a short and a long form
		for (const card::ClassRow &row : card::kernel_classes())
			sums[row.name] += counts.number[row.id - EDC_ID_KERNEL_FIRST];
		std::erase_if(sums, [](const auto &sum) { return sum.second == 0; });
		return sums;
	};
	object_in(object_in(json_, "kernel_counts"), when)["counted"] = {{"before", by_name(before)},
									 {"after", by_name(after)}};
}

// What is opened for each CPU was not opened there.
void RecordingFile::offline_at_start(const std::vector<std::uint32_t> &cpus)
{
	if (!cpus.empty())
		json_["offline_at_start"] = cpus;
}

// Of a CPU that came several times, what was opened each time.
void RecordingFile::late_cpu(const card::LateCpu &late)
{
	nlohmann::ordered_json &all = json_["late_cpus"];
	const auto known = std::ranges::find_if(all, [&](const auto &cpu) { return cpu["cpu"] == late.cpu; });
	if (known == all.end()) {
		all.push_back({{"cpu", late.cpu}, {"opened", late.opened}});
		return;
	}
	std::vector<std::string> opened = (*known)["opened"];
	std::erase_if(opened, [&](const std::string &name) { return !std::ranges::count(late.opened, name); });
	(*known)["opened"] = std::move(opened);
}

void RecordingFile::hidden_threads(std::uint64_t number)
{
	object_in(json_, "statistics")["hidden_threads"] = number;
}

void RecordingFile::period_reads(const PeriodReads &reads)
{
	object_in(json_, "statistics")["max_late_ns"] = reads.max_late_ns;
	object_in(json_, "statistics")["max_width_ns"] = reads.max_width_ns;
}

void RecordingFile::stacks(const card::StackOptions &chosen, const card::StackMemory &memory,
			   const stacks::StackCounts &counts)
{
	std::uint64_t taken = 0, skipped = 0, spent = 0, max_spent = 0, timer_taken = 0, timer_spent = 0;
	auto kinds = nlohmann::ordered_json::object();
	for (const auto &[kind, name] : stack_kinds) {
		std::uint64_t of_kind = 0, skipped_of_kind = 0;
		for (const edc_stack_cpu &cpu : memory.cpus) {
			of_kind += cpu.at[kind].taken;
			skipped_of_kind += cpu.at[kind].skipped;
		}
		if (of_kind || skipped_of_kind)
			kinds[name] = {{"taken", of_kind}, {"left_out_by_budget", skipped_of_kind}};
		taken += of_kind;
		skipped += skipped_of_kind;
	}
	for (const edc_stack_cpu &cpu : memory.cpus) {
		std::uint64_t spent_of_cpu = 0;
		for (const edc_stack_account &account : cpu.at)
			spent_of_cpu += account.spent_ns;
		spent += spent_of_cpu;
		max_spent = std::max(max_spent, spent_of_cpu);
		timer_taken += cpu.timer_taken;
		timer_spent += cpu.timer_ns;
	}
	json_["stacks"] = {{"timer_hz", chosen.timer_hz},
			   {"events", chosen.events},
			   {"system_calls", chosen.calls},
			   {"budget_percent", EDC_STACK_BUDGET_PERCENT},
			   {"taken_at_events", taken},
			   {"left_out_by_budget", skipped},
			   {"at", std::move(kinds)},
			   {"spent_at_events_ns", spent},
			   {"max_spent_of_a_cpu_ns", max_spent},
			   {"taken_at_timer", timer_taken},
			   {"spent_at_timer_ns", timer_spent},
			   {"files", counts.files},
			   {"unread_files", counts.unread_files},
			   {"unwind_rows", counts.rows},
			   {"tables_without_room", counts.tables_without_room},
			   {"tables_ns", counts.table_ns},
			   {"processes", counts.processes},
			   {"processes_without_room", counts.spaces_without_room},
			   {"lost_mappings", counts.lost_changes},
			   {"lists_read_again", counts.lists_read_again},
			   {"paused_ns", counts.paused_ns},
			   {"opener_lost", counts.opener_lost}};
	for (const auto &[user, of] : counts.without_room)
		json_["stacks"]["without_room"].push_back(
		    {{"user", user}, {"mappings", of.mappings}, {"tables", of.tables}});
}

void RecordingFile::card_counts(const card::BpfCard &card)
{
	auto &classes = json_["classes"] = nlohmann::ordered_json::array();
	for (const card::ClassRow &row : card::kernel_classes())
		if (auto counts = class_counts(card, row); counts["seen"] != 0)
			classes.push_back(std::move(counts));
	const auto add = [&](unsigned id, const char *name, const char *family = "counters") {
		if (auto counts = class_counts(card, {id, name, family, 0, {}}); counts["seen"] != 0)
			classes.push_back(std::move(counts));
	};
	for (unsigned id = EDC_ID_COUNTERS; id < EDC_ID_COUNTERS_SCALED + EDC_COUNTER_SETS; ++id)
		add(id, "counters");
	add(EDC_ID_RATIOS, "ratios");
	add(EDC_ID_COUNTERS_RESET, "counters_reset", "reset");
	std::uint64_t clamped = 0;
	for (unsigned cpu = 0; cpu < card.cpus(); ++cpu)
		for (const edc_level &level : card.area(cpu).level)
			clamped += level.ring.clamped;
	auto &lost = json_["lost_by_cpu"] = nlohmann::ordered_json::array();
	for (unsigned cpu = 0; cpu < card.cpus(); ++cpu)
		lost.push_back(lost_on(card.area(cpu)));
	json_["clamped"] = clamped;
	misses("end", card.misses());
	for (const card::FaultCount &event : card.fault_counts())
		if (const auto &programs = json_["programs"];
		    std::find(programs.begin(), programs.end(), event.event) != programs.end())
			object_in(json_, "fault_counts")[event.event] = event.count;
}

void RecordingFile::confined(bool is)
{
	json_["confined"] = is;
}

void RecordingFile::user_card(const card::UserCounts &counts, std::uint64_t not_searched)
{
	std::uint64_t filtered = 0;
	for (const auto &[id, count] : counts.filtered_by_id)
		filtered += count;
	json_["user_card"] = {{"processes", counts.processes},
			      {"by_device", counts.by_device},
			      {"refused", counts.refused},
			      {"tokens", counts.tokens},
			      {"discarded", counts.discarded},
			      {"early", counts.early},
			      {"damaged", counts.damaged},
			      {"damage", counts.damage},
			      {"classes", counts.classes},
			      {"classes_refused", counts.classes_refused},
			      {"why_refused", counts.why_refused},
			      {"unanswered", counts.unanswered},
			      {"not_searched", not_searched},
			      {"filtered", filtered},
			      {"claims", counts.claims}};
	for (const auto &[id, count] : counts.filtered_by_id)
		json_["user_card"]["filtered_by_class"].push_back({{"id", id}, {"filtered", count}});
	auto &claims = json_["user_card"]["largest_claims"] = nlohmann::ordered_json::array();
	for (const card::UserClaim &claim : counts.claim)
		claims.push_back({{"process", claim.process},
				  {"discarded", claim.discarded},
				  {"early", claim.early},
				  {"possible", claim.possible}});
}

void RecordingFile::recorder(std::uint64_t cpu_ns, const Sync &last, const Writer &writer, unsigned worst_fill,
			     std::uint64_t control_tokens)
{
	json_["recorder"] = {{"pid", own_kernel_pid()},
			     {"cpu_ns", cpu_ns},
			     {"wall_ns", last.monotonic_ns - start_.monotonic_ns},
			     {"bytes", writer.bytes()},
			     {"dropped_blocks", writer.dropped_blocks()},
			     {"worst_ring_fill_permille", worst_fill},
			     {"control_tokens", control_tokens}};
	object_in(json_, "end")["time"] = last.time;
	object_in(json_, "end")["realtime_ns"] = last.realtime_ns;
}

void RecordingFile::snapshot(const SnapshotAccount &account, const Writer &writer)
{
	json_["date"] = fmt::format("{:%Y-%m-%dT%H:%M:%S%z}", fmt::localtime(std::time(nullptr)));
	auto &classes = json_["classes"] = nlohmann::ordered_json::array();
	const auto add = [&](unsigned id, const char *name, const char *family) {
		if (const std::uint64_t tokens = account.tokens_by_class[id])
			classes.push_back({{"id", id},
					   {"name", name},
					   {"family", family},
					   {"seen", tokens},
					   {"refused", 0},
					   {"too_deep", 0},
					   {"filtered", 0}});
	};
	for (const card::ClassRow &row : card::kernel_classes())
		add(row.id, row.name, row.family);
	for (unsigned id = EDC_ID_COUNTERS; id < EDC_ID_COUNTERS_SCALED + EDC_COUNTER_SETS; ++id)
		add(id, "counters", "counters");
	add(EDC_ID_COUNTERS_RESET, "counters_reset", "reset");
	auto rings = nlohmann::ordered_json::array(), since = nlohmann::ordered_json::array();
	std::vector<std::uint64_t> lost(account.since.size());
	std::uint64_t torn = 0;
	for (const RingPart &ring : account.rings) {
		lost.at(ring.cpu) += ring.discarded;
		torn += ring.torn;
		if (ring.begin_time)
			rings.push_back({{"cpu", ring.cpu},
					 {"level", ring.level},
					 {"first_block", ring.first},
					 {"overwritten", ring.overwritten},
					 {"discarded", ring.discarded},
					 {"torn_blocks", ring.torn}});
	}
	json_["lost_by_cpu"] = lost;
	json_["clamped"] = 0;
	json_["flight"] = {{"snapshot", account.number},
			   {"why", account.request.why},
			   {"asked", account.asked.time},
			   {"before_ns", nullptr},
			   {"after_ns", account.request.after_ns},
			   {"held_ns", account.held_ns},
			   {"settled", account.settled},
			   {"discarded", account.discarded()},
			   {"overwritten", account.overwritten()},
			   {"torn_blocks", torn},
			   {"programs_since", account.programs_since},
			   {"overwritten_blocks_of_programs", account.overwritten_blocks},
			   {"since", account.since},
			   {"rings", rings}};
	if (account.request.before_ns)
		json_["flight"]["before_ns"] = *account.request.before_ns;
	json_["recorder"] = {{"cpu_ns", account.cpu_ns},      {"wall_ns", account.wall_ns},
			     {"bytes", writer.bytes()},       {"dropped_blocks", writer.dropped_blocks()},
			     {"worst_ring_fill_permille", 0}, {"control_tokens", account.control_tokens()}};
	json_["start"] = {{"time", account.from}};
	json_["end"] = {{"time", account.end.time}, {"realtime_ns", account.end.realtime_ns}};
}

void RecordingFile::end(const std::string &reason, std::optional<int> command_exit, bool complete)
{
	json_["end_reason"] = reason;
	if (command_exit)
		json_["command_exit"] = *command_exit;
	if (complete)
		json_["state"] = "complete";
}

std::string RecordingFile::text() const
{
	return json_dump(json_, 1) + "\n";
}

void RecordingFile::write(const std::string &directory) const
{
	const std::string text = lives_ ? json_dump(lives_->recording(json_), 1) + "\n" : this->text();
	replace_file(directory + "/.monitor/recording.json", text, 0600);
}

} // namespace monitor::record
