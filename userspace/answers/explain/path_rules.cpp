// SPDX-License-Identifier: MIT
#include "path_rules.h"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "answers/report/idle_table.h"
#include "answers/report/table.h"

namespace monitor::explain {
namespace {

std::string who(const PathPart &part)
{
	return part.who;
}

std::string detail(const PathPart &part)
{
	return part.detail;
}

std::string sleeper(const PathPart &part)
{
	return part.who + " in " + part.detail;
}

// "make", "3 processes (convoy)", "9 processes (postgres, psql and others)"
std::string processes_text(std::size_t number, const std::set<std::string> &names)
{
	if (number == 1)
		return *names.begin();
	std::string text = *names.begin();
	if (names.size() > 1)
		text += (names.size() == 2 ? " and " : ", ") + *std::next(names.begin());
	return fmt::format("{} processes ({}{})", number, text, names.size() > 2 ? " and others" : "");
}

} // namespace

PathRules::PathRules(const Evidence &evidence, const Thresholds &thresholds)
    : Claims(evidence, thresholds), rest_(evidence.path->parts)
{
}

void PathRules::mark_claimed(What what, const std::function<bool(const PathPart &)> &is_one)
{
	for (PathPart &part : rest_)
		if (part.what == what && (!is_one || is_one(part)))
			part.share = 0;
}

void PathRules::mark_claimed(const PathPart &claimed, double share)
{
	for (PathPart &part : rest_)
		if (part.what == claimed.what && part.who == claimed.who && part.detail == claimed.detail)
			part.share = std::max(part.share - share, 0.0);
}

// " 52 % of 412 samples of it (95 % sure: 47 to 57 %) are in malloc, free and 2 more." As few functions as have half of
// them.
std::string PathRules::functions_of(const std::string &name, Json &evidence) const
{
	const auto found = std::ranges::find(evidence_.path->functions, name, &Functions::who);
	if (found == evidence_.path->functions.end())
		return "";
	evidence["samples"] = found->samples;
	if (found->samples == 0)
		return " No sample of it was taken.";
	if (found->hits.empty())
		return fmt::format(" Its {} sample{} too few to name functions.", found->samples,
				   found->samples == 1 ? " is" : "s are");
	std::uint64_t hits = 0;
	std::size_t number = 0;
	for (; number < found->hits.size() && hits * 2 < found->samples; ++number)
		hits += found->hits[number].second;
	const report::ShareInterval interval = report::share_interval(hits, found->samples, 0);
	evidence["functions"] = Json::array();
	for (std::size_t i = 0; i < number; ++i) {
		const report::ShareInterval one = report::share_interval(found->hits[i].second, found->samples, 0);
		evidence["functions"].push_back({{"name", found->hits[i].first},
						 {"samples", found->hits[i].second},
						 {"low", one.low},
						 {"high", one.high}});
	}
	constexpr std::size_t named = 2;
	std::string names = found->hits[0].first;
	if (number >= named)
		names += (number == named ? " and " : ", ") + found->hits[1].first;
	if (number > named)
		names += fmt::format(" and {} more", number - named);
	return fmt::format(" {} of {} samples of it (95 % sure: {:.0f} to {:.0f} %) are in {}.",
			   percent(static_cast<double>(hits) / static_cast<double>(found->samples)), found->samples,
			   interval.low * 100, interval.high * 100, names);
}

void PathRules::own_code(const char *key, What what, const NameOf &name_of, const std::string &text,
			 const Command &more)
{
	for (const auto &[name, share] : amounts(rest_, what, name_of)) {
		if (!claims(share, thresholds_.path))
			continue;
		Json evidence = {{"of", name}};
		const std::string functions = what == What::user ? functions_of(name, evidence) : "";
		const bool is_not_sampled = evidence.value("samples", 1) == 0;
		add(key, share, fmt::format("{} of it {} {}.{}", percent(share), text, name, functions), evidence,
		    is_not_sampled ? report({"critical-path"}) : more);
		mark_claimed(what, [&, &of = name](const PathPart &part) { return name_of(part) == of; });
	}
}

// Which thread is the bottleneck, if it is one.
const PathThread *PathRules::only_thread() const
{
	const auto longest = std::ranges::max_element(evidence_.path->threads, {}, &PathThread::ran);
	const bool is_one = longest != evidence_.path->threads.end() && claims(longest->ran, thresholds_.one_thread) &&
			    evidence_.path->others_ran >= thresholds_.one_thread_others;
	return is_one ? &*longest : nullptr;
}

// That it is one thread and what its code does are one claim: they are about the same time.
void PathRules::one_thread(const PathThread &thread)
{
	Amounts parts;
	for (const PathPart &part : thread.parts)
		if (claims(part.share, thresholds_.path))
			parts.emplace_back(part.what == What::user    ? "in user code"
					   : part.what == What::fault ? "in page faults"
					   : part.what == What::call  ? "in the system call " + part.detail
								      : "in the kernel",
					   part.share);
	std::ranges::stable_sort(parts, std::greater<>(), &Amounts::value_type::second);
	std::string made_of;
	for (const auto &[what, share] : parts)
		made_of += fmt::format(", {} {}", percent(share), what);
	Json evidence = {{"thread", thread.label}, {"parts", json_of(parts)}};
	const std::string functions = functions_of(thread.name, evidence);
	add("one_thread", thread.ran,
	    fmt::format("One thread, {}, is {} of it{}: however fast all others get, at most {:.2f} times as fast "
			"(unless it spins for them).{}",
			thread.label, percent(thread.ran), made_of, 1 / std::min(thread.ran, 1.0), functions),
	    evidence, report(evidence_.has_stacks ? Command{"stacks"} : Command{"critical-path"}), Confidence::medium);
}

// What threads of the path ran. Code of the one thread is claimed with it.
void PathRules::code()
{
	if (const PathThread *thread = only_thread()) {
		one_thread(*thread);
		for (const PathPart &own : thread->parts)
			mark_claimed(own, own.share);
	}
	const auto caller = [](const PathPart &part) { return part.detail + " by " + part.who; };
	own_code("user", What::user, who, "is user code of",
		 report(evidence_.has_stacks ? Command{"stacks"} : Command{"critical-path"}));
	own_code("fault", What::fault, who, "is page faults of",
		 evidence_.has_stacks ? report({"stacks"}) : report({}));
	own_code("call", What::call, caller, "is work in the system call", report({"syscalls", "--by", "command"}));
	own_code("call", What::kernel, who, "is work of the kernel, in no system call, in", report({"critical-path"}));
}

void PathRules::interrupts()
{
	const std::pair<What, const char *> kinds[] = {{What::irq, "irq"}, {What::softirq, "softirq"}};
	for (const auto &[what, key] : kinds)
		for (const auto &[name, share] : amounts(evidence_.path->parts, what, detail))
			if (claims(share, thresholds_.path)) {
				add(key, share,
				    fmt::format("{} of it passed in {}, while threads of the path had the CPU.",
						percent(share), name),
				    {{"interrupt", name}}, report({"--by", "cpu"}));
				mark_claimed(what, [&of = name](const PathPart &part) { return part.detail == of; });
			}
}

void PathRules::sleeps()
{
	struct Kind {
		What what;
		const char *key, *text;
		Confidence confidence;
	};
	const Kind kinds[] = {{What::timer, "timer", "sleep that a timer ended", Confidence::high},
			      {What::disk, "disk", "waiting for the disk", Confidence::high},
			      {What::network, "network", "waiting for a packet from the network", Confidence::high},
			      {What::interrupt, "irq", "sleep that a device's interrupt ended", Confidence::medium},
			      {What::open, "call", "sleep that had not ended at the end", Confidence::high}};
	for (const Kind &kind : kinds) {
		const Amounts of = amounts(evidence_.path->parts, kind.what, sleeper);
		if (!is_recorded(kind.key) || !claims(sum(of), thresholds_.path))
			continue;
		add(kind.key, sum(of), fmt::format("{} of it is {}: {}.", percent(sum(of)), kind.text, texts(of)),
		    {{"sleepers", json_of(of)}}, report({"offcpu"}), kind.confidence);
		mark_claimed(kind.what);
	}
	const Amounts stopped = amounts(evidence_.path->parts, What::stopped, who);
	if (claims(sum(stopped), thresholds_.path)) {
		add("call", sum(stopped),
		    fmt::format("{} of it threads were stopped by a signal: {}.", percent(sum(stopped)),
				texts(stopped)),
		    {{"threads", json_of(stopped)}}, report({"offcpu"}));
		mark_claimed(What::stopped);
	}
	const Amounts throttled = amounts(evidence_.path->parts, What::throttled, who);
	if (is_recorded("throttled") && claims(sum(throttled), thresholds_.path)) {
		add("throttled", sum(throttled),
		    fmt::format("{} of it a CPU quota kept threads from running: {}.", percent(sum(throttled)),
				texts(throttled)),
		    {{"threads", json_of(throttled)}}, report({}));
		mark_claimed(What::throttled);
	}
	const Amounts reclaim = amounts(evidence_.path->parts, What::memory_reclaim, sleeper);
	if (is_recorded("memory_reclaim") && claims(sum(reclaim), thresholds_.memory_reclaim)) {
		add("memory_reclaim", sum(reclaim),
		    fmt::format("{} of it is waiting for memory that others give up: {}.", percent(sum(reclaim)),
				texts(reclaim)),
		    {{"threads", json_of(reclaim)}}, report({"offcpu"}));
		mark_claimed(What::memory_reclaim);
	}
}

// Waiting for processes outside the command, and for file locks, whoever had them.
void PathRules::waits()
{
	const Amounts &locks = evidence_.path->file_locks;
	std::vector<PathPart> parts = evidence_.path->parts;
	const bool has_lock = claims(sum(locks), thresholds_.path);
	if (has_lock) {
		add("call", sum(locks),
		    fmt::format("{} of it is waiting for a file lock that others had: {}.", percent(sum(locks)),
				texts(locks)),
		    {{"lock", "file"}, {"sleepers", json_of(locks)}}, report({"critical-path", "--bounded"}));
		mark_claimed(What::file_lock);
		claimed_of_rest_ += sum(locks);
	}
	for (PathPart &part : parts)
		if (part.what == What::file_lock && !has_lock)
			part.what = What::other_process;
	const Amounts others = amounts(parts, What::other_process, sleeper);
	if (!claims(sum(others), thresholds_.path))
		return;
	const auto longest = std::ranges::max_element(
	    parts, {}, [](const PathPart &part) { return part.what == What::other_process ? part.share : 0; });
	add("call", sum(others),
	    fmt::format("{} of it is waiting for a process that is not of {}: {}.", percent(sum(others)),
			evidence_.is_command ? "the command" : evidence_.subject, texts(others)),
	    {{"process", longest->process}, {"sleepers", json_of(others)}},
	    command("explain", {"--pid", std::to_string(longest->process)}));
	mark_claimed(What::other_process);
	mark_claimed(What::file_lock);
}

// Without the time that is claimed as an inversion.
Amounts PathRules::without_inversions(Amounts behind) const
{
	for (const Inversion &each : evidence_.path->inversions)
		for (auto &[name, share] : behind)
			if (name == each.between)
				share -= std::min(share, each.share);
	std::ranges::stable_sort(behind, std::greater<>(), &Amounts::value_type::second);
	return behind;
}

// Ready without a CPU. Whether more CPUs would help is never claimed: threads may take turns for reasons of their own.
void PathRules::ready()
{
	const auto &parts = evidence_.path->parts;
	const Command more = report({"critical-path"});
	const Amounts others = without_inversions(amounts(parts, What::ready_others, detail)),
		      own = without_inversions(amounts(parts, What::ready_own, detail)),
		      idle = amounts(parts, What::ready_idle, who),
		      idle_long = amounts(parts, What::ready_idle_long, who);
	if (claims(sum(others), thresholds_.path)) {
		add("waiting_others", sum(others),
		    fmt::format("{} of it is waiting for a CPU that others had: {}.", percent(sum(others)),
				texts(others)),
		    {{"behind", json_of(others)}}, more);
		mark_claimed(What::ready_others);
	}
	if (claims(sum(own), thresholds_.path)) {
		const double oversubscribed = evidence_.path->oversubscribed;
		const bool is_oversubscribed = oversubscribed >= thresholds_.oversubscribed;
		const Json evidence = {
		    {"behind", json_of(own)}, {"oversubscribed", oversubscribed}, {"cpus", evidence_.cpus}};
		if (is_oversubscribed)
			add("waiting_own", sum(own),
			    fmt::format("{} of it is waiting for a CPU that its own threads had: {}; for {} of the "
					"time more of them could run than the {} CPUs.",
					percent(sum(own)), texts(own), percent(oversubscribed), evidence_.cpus),
			    evidence, more);
		else
			add("ready_unexplained", sum(own),
			    fmt::format("{} of it a thread was ready behind one of its own command ({}); whether it "
					"needed the CPU or the other's work is not known.",
					percent(sum(own)), texts(own)),
			    evidence, more, Confidence::medium);
		mark_claimed(What::ready_own);
	}
	if (claims(sum(idle_long), thresholds_.path)) {
		add("ready_unexplained", sum(idle_long),
		    fmt::format(
			"{} of it a thread was ready and its CPU idle, for more than {:.0f} ms at a time: {}. "
			"A CPU quota of its group would look like this; the recording does not show whether it is one.",
			percent(sum(idle_long)), thresholds_.long_idle_wait_ms, texts(idle_long)),
		    {{"threads", json_of(idle_long)}}, more, Confidence::medium);
		mark_claimed(What::ready_idle_long);
	}
	if (claims(sum(idle), thresholds_.path)) {
		add("wakeup_latency", sum(idle),
		    fmt::format("{} of it passed between wake-ups and the first instruction on idle CPUs: {}; {} "
				"wake-ups.",
				percent(sum(idle)), texts(idle), report::count_text(evidence_.path->wake_ups)),
		    {{"threads", json_of(idle)}, {"wake_ups", evidence_.path->wake_ups}},
		    command("stat", {"--table", "runqueue"}));
		mark_claimed(What::ready_idle);
	}
}

// The path is handed round by futexes among threads of some processes, and some always sleep there.
void PathRules::handover()
{
	const Path &path = *evidence_.path;
	if (path.futex_handovers < thresholds_.handover_rate || path.futex_sleepers < thresholds_.handover_sleepers)
		return;
	std::set<std::string> names;
	std::set<std::int32_t> processes;
	std::size_t threads = 0;
	double share = 0, longest = 0;
	for (const PathThread &thread : path.threads)
		if (path.futex_processes.contains(thread.tgid) && thread.share >= thresholds_.handover_thread) {
			names.insert(thread.process);
			processes.insert(thread.tgid);
			++threads;
			share += thread.share;
			longest = std::max(longest, thread.share);
		}
	if (threads < 3 || longest >= thresholds_.handover_most || !claims(share, thresholds_.path))
		return;
	add("handover", share,
	    fmt::format("{} threads of {} take turns, by futex {:.0f} times a second, and {:.1f} of them sleep there "
			"on average: a lock, or work handed round.",
			threads, processes_text(processes.size(), names), path.futex_handovers, path.futex_sleepers),
	    {{"process", *names.begin()},
	     {"processes", processes.size()},
	     {"threads", threads},
	     {"per_second", path.futex_handovers},
	     {"sleepers", path.futex_sleepers}},
	    report({"offcpu", "--by", "waker"}), Confidence::medium);
	for (const PathThread &thread : path.threads)
		for (PathPart &part : rest_)
			if (path.futex_processes.contains(thread.tgid) && part.who == thread.name)
				part.share = 0;
}

void PathRules::inversion()
{
	double share = 0;
	for (const Inversion &each : evidence_.path->inversions)
		share += each.share;
	if (!is_recorded("priority_inversion") || !claims(share, thresholds_.priority_inversion))
		return;
	const auto longest = std::ranges::max_element(evidence_.path->inversions, {}, &Inversion::share);
	add("priority_inversion", share,
	    fmt::format("{} of it {} waited for {}, which has a lower priority and had no CPU because of {} between "
			"them.",
			percent(share), longest->sleeper, longest->holder, longest->between),
	    {{"sleeper", longest->sleeper}, {"holder", longest->holder}, {"between", longest->between}},
	    report({"critical-path", "--bounded"}));
	for (const Inversion &each : evidence_.path->inversions)
		for (PathPart &part : rest_)
			if (part.detail == each.between &&
			    (part.what == What::ready_others || part.what == What::ready_own))
				part.share = std::max(part.share - each.share, 0.0);
}

std::vector<Finding> PathRules::found()
{
	code();
	interrupts();
	sleeps();
	waits();
	ready();
	handover();
	inversion();
	return std::move(found_);
}

} // namespace monitor::explain
