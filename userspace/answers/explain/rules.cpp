// SPDX-License-Identifier: MIT
#include "rules.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "answers/report/idle_table.h"
#include "answers/report/table.h"

namespace monitor::explain {
namespace {

using Json = nlohmann::ordered_json;

// What is looked for, for people; those of the path, then those of the machine, too.
struct KeyName {
	const char *key, *name;
	bool of_path;
};
constexpr KeyName key_names[] = {{"user", "user code", true},
				 {"call", "calls", true},
				 {"fault", "faults", true},
				 {"irq", "interrupts", true},
				 {"softirq", "softirqs", true},
				 {"disk", "disk", true},
				 {"timer", "timers", true},
				 {"network", "network", true},
				 {"one_thread", "one thread", true},
				 {"waiting_others", "waiting for CPUs", true},
				 {"waiting_own", "waiting for its own threads", true},
				 {"ready_unexplained", "", true},
				 {"throttled", "throttling", true},
				 {"wakeup_latency", "wake-up latency", true},
				 {"handover", "futex locks", true},
				 {"priority_inversion", "priority inversion", true},
				 {"process_storm", "short lives", false},
				 {"call_edges", "call edges", false},
				 {"irq_imbalance", "interrupts on one CPU", false},
				 {"steal", "steal", false},
				 {"memory_reclaim", "memory reclaim", false}};
constexpr const char *keys_of_machine[] = {"user", "waiting_others", "throttled"};

std::string percent(double share)
{
	return share >= 0.1 || share == 0 ? fmt::format("{:.0f} %", share * 100) : fmt::format("{:.1f} %", share * 100);
}

// By name, the largest first.
using Amounts = std::vector<std::pair<std::string, double>>;

template <class Parts, class Name> Amounts amounts(const Parts &parts, What what, Name &&name)
{
	std::map<std::string, double> sums;
	for (const PathPart &part : parts)
		if (part.what == what)
			sums[name(part)] += part.share;
	Amounts sorted(sums.begin(), sums.end());
	std::ranges::stable_sort(sorted, std::greater<>(), &Amounts::value_type::second);
	return sorted;
}

double sum(const Amounts &amounts)
{
	return std::accumulate(amounts.begin(), amounts.end(), 0.0,
			       [](double total, const auto &each) { return total + each.second; });
}

// "cc1 12 %, ld 3.0 % and others"
std::string texts(const Amounts &amounts)
{
	constexpr std::size_t most = 3;
	constexpr double least = 0.005; // worth a word
	std::string text;
	std::size_t i = 0;
	for (; i < amounts.size() && (i == 0 || (i < most && amounts[i].second >= least)); ++i)
		text += fmt::format("{}{} {}", i ? ", " : "", amounts[i].first, percent(amounts[i].second));
	return i < amounts.size() && amounts[i].second >= least ? text + " and others" : text;
}

Json json_of(const Amounts &amounts)
{
	Json json = Json::array();
	for (const auto &[name, share] : amounts)
		json.push_back({{"name", name}, {"share", share}});
	return json;
}

const std::string &who(const PathPart &part)
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

class Judge {
public:
	Judge(const Evidence &evidence, const Thresholds &thresholds) : of_(evidence), at_(thresholds) {}

	Explanation judged();

private:
	using Command = std::vector<std::string>;

	// Words after `monitor report DIR`.
	Command report(Command words) const
	{
		words.insert(words.begin(), {"monitor", "report", of_.directory});
		return words;
	}
	Command command(const std::string &verb, Command words = {}) const
	{
		words.insert(words.begin(), {"monitor", verb, of_.directory});
		return words;
	}
	bool is_recorded(const char *key) const { return std::ranges::count(of_.not_recorded, key) == 0; }
	bool claims(double share, double threshold) const { return share - of_.unknown >= threshold; }
	void add(const char *key, double share, std::string text, Json evidence, Command command,
		 Confidence confidence = Confidence::high)
	{
		found_.push_back({key, std::min(share, 1.0), of_.unknown, confidence, std::move(evidence),
				  std::move(text), std::move(command)});
	}

	void code();
	std::string functions_of(const std::string &name, Json &evidence) const;
	void own_code(const char *key, const std::string &name, double share, const std::string &what,
		      const Command &more);
	const PathThread *only_thread() const;
	void one_thread(const PathThread &thread);
	void interrupts();
	void sleeps();
	Amounts without_inversions(Amounts behind) const;
	void ready();
	void handover();
	void inversion();
	void storm();
	void call_edges();
	void users();
	void balance();
	void uncertain();
	void measurement();
	void nothing();
	std::string head() const;
	void look_for(Explanation &explanation) const;

	const Evidence &of_;
	const Thresholds &at_;
	std::vector<Finding> found_;
};

// " 52 % of 412 samples of it (95 % sure: 47 to 57 %) are in malloc, free and 2 more." As few functions as have half of
// them.
std::string Judge::functions_of(const std::string &name, Json &evidence) const
{
	const auto found = std::ranges::find(of_.path->functions, name, &Functions::who);
	if (found == of_.path->functions.end())
		return "";
	evidence["samples"] = found->samples;
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

void Judge::own_code(const char *key, const std::string &name, double share, const std::string &what,
		     const Command &more)
{
	if (!claims(share, at_.path))
		return;
	Json evidence = {{"of", name}};
	const std::string functions = key == std::string("user") ? functions_of(name, evidence) : "";
	add(key, share, fmt::format("{} of it {} {}.{}", percent(share), what, name, functions), evidence, more);
}

// Which thread is the bottleneck, if it is one.
const PathThread *Judge::only_thread() const
{
	const auto longest = std::ranges::max_element(of_.path->threads, {}, &PathThread::ran);
	const bool is_one = longest != of_.path->threads.end() && claims(longest->ran, at_.one_thread) &&
			    of_.path->others_ran >= at_.one_thread_others;
	return is_one ? &*longest : nullptr;
}

// That it is one thread and what its code does are one claim: they are about the same time.
void Judge::one_thread(const PathThread &thread)
{
	Amounts parts;
	for (const PathPart &part : thread.parts)
		if (claims(part.share, at_.path))
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
	    evidence, report(of_.has_stacks ? Command{"stacks"} : Command{"critical-path"}), Confidence::medium);
}

// What threads of the path ran. Code of the one thread is claimed with it.
void Judge::code()
{
	std::vector<PathPart> parts = of_.path->parts;
	if (const PathThread *thread = only_thread()) {
		one_thread(*thread);
		for (const PathPart &own : thread->parts)
			for (PathPart &part : parts)
				if (part.what == own.what && part.who == own.who && part.detail == own.detail)
					part.share -= own.share;
	}
	for (const auto &[name, share] : amounts(parts, What::user, who))
		own_code("user", name, share, "is user code of",
			 report(of_.has_stacks ? Command{"stacks"} : Command{"critical-path"}));
	for (const auto &[name, share] : amounts(parts, What::fault, who))
		own_code("fault", name, share, "is page faults of", of_.has_stacks ? report({"stacks"}) : report({}));
	for (const auto &[name, share] :
	     amounts(parts, What::call, [](const PathPart &part) { return part.detail + " by " + part.who; }))
		own_code("call", name, share, "is work in the system call", report({"syscalls", "--by", "command"}));
	for (const auto &[name, share] : amounts(parts, What::kernel, who))
		own_code("call", name, share, "is work of the kernel, in no system call, in",
			 report({"critical-path"}));
}

void Judge::interrupts()
{
	const std::pair<What, const char *> kinds[] = {{What::irq, "irq"}, {What::softirq, "softirq"}};
	for (const auto &[what, key] : kinds)
		for (const auto &[name, share] : amounts(of_.path->parts, what, detail))
			if (claims(share, at_.path))
				add(key, share,
				    fmt::format("{} of it passed in {}, while threads of the path had the CPU.",
						percent(share), name),
				    {{"interrupt", name}}, report({"--by", "cpu"}));
}

void Judge::sleeps()
{
	struct Kind {
		What what;
		const char *key, *text;
		Confidence confidence;
	};
	const Kind kinds[] = {{What::timer, "timer", "sleep that a timer ended", Confidence::high},
			      {What::disk, "disk", "waiting for the disk", Confidence::high},
			      {What::network, "network", "waiting for a packet from the network", Confidence::high},
			      {What::interrupt, "irq", "sleep that a device's interrupt ended", Confidence::medium}};
	for (const Kind &kind : kinds) {
		const Amounts of = amounts(of_.path->parts, kind.what, sleeper);
		if (is_recorded(kind.key) && claims(sum(of), at_.path))
			add(kind.key, sum(of),
			    fmt::format("{} of it is {}: {}.", percent(sum(of)), kind.text, texts(of)),
			    {{"sleepers", json_of(of)}}, report({"offcpu"}), kind.confidence);
	}
	const Amounts throttled = amounts(of_.path->parts, What::throttled, who);
	if (is_recorded("throttled") && claims(sum(throttled), at_.path))
		add("throttled", sum(throttled),
		    fmt::format("{} of it a CPU quota kept threads from running: {}.", percent(sum(throttled)),
				texts(throttled)),
		    {{"threads", json_of(throttled)}}, report({}));
	const Amounts reclaim = amounts(of_.path->parts, What::memory_reclaim, sleeper);
	if (is_recorded("memory_reclaim") && claims(sum(reclaim), at_.memory_reclaim))
		add("memory_reclaim", sum(reclaim),
		    fmt::format("{} of it is waiting for memory that others give up: {}.", percent(sum(reclaim)),
				texts(reclaim)),
		    {{"threads", json_of(reclaim)}}, report({"offcpu"}));
}

// Without the time that is claimed as an inversion.
Amounts Judge::without_inversions(Amounts behind) const
{
	for (const Inversion &each : of_.path->inversions)
		for (auto &[name, share] : behind)
			if (name == each.between)
				share -= std::min(share, each.share);
	return behind;
}

// Ready without a CPU. Whether more CPUs would help is never claimed: who takes turns may do so for its own reasons.
void Judge::ready()
{
	const auto &parts = of_.path->parts;
	const Command more = report({"critical-path"});
	const Amounts others = without_inversions(amounts(parts, What::ready_others, detail)),
		      own = without_inversions(amounts(parts, What::ready_own, detail)),
		      idle = amounts(parts, What::ready_idle, who), held = amounts(parts, What::ready_idle_long, who);
	if (claims(sum(others), at_.path))
		add("waiting_others", sum(others),
		    fmt::format("{} of it is waiting for a CPU that others had: {}.", percent(sum(others)),
				texts(others)),
		    {{"behind", json_of(others)}}, more);
	if (claims(sum(own), at_.path)) {
		const double over = of_.path->oversubscribed;
		const bool is_over = over >= at_.oversubscribed;
		const Json evidence = {{"behind", json_of(own)}, {"oversubscribed", over}, {"cpus", of_.cpus}};
		if (is_over)
			add("waiting_own", sum(own),
			    fmt::format("{} of it is waiting for a CPU that its own threads had: {}; for {} of the "
					"time more of them could run than the {} CPUs.",
					percent(sum(own)), texts(own), percent(over), of_.cpus),
			    evidence, more);
		else
			add("ready_unexplained", sum(own),
			    fmt::format("{} of it a thread was ready behind one of its own command ({}); whether it "
					"needed the CPU or the other's work is not known.",
					percent(sum(own)), texts(own)),
			    evidence, more, Confidence::medium);
	}
	if (claims(sum(held), at_.path))
		add("ready_unexplained", sum(held),
		    fmt::format("{} of it a thread was ready and its CPU idle, for more than {:.0f} ms at a time: {}. "
				"So looks a CPU quota of its group; what was recorded does not tell.",
				percent(sum(held)), at_.long_idle_wait_ms, texts(held)),
		    {{"threads", json_of(held)}}, more, Confidence::medium);
	if (claims(sum(idle), at_.path))
		add("wakeup_latency", sum(idle),
		    fmt::format("{} of it passed between wake-ups and the first instruction on idle CPUs: {}; {} "
				"wake-ups.",
				percent(sum(idle)), texts(idle), report::count_text(of_.path->wake_ups)),
		    {{"threads", json_of(idle)}, {"wake_ups", of_.path->wake_ups}},
		    command("stat", {"--table", "runqueue"}));
}

// The path is handed round by futexes among threads of one process, and some always sleep there.
void Judge::handover()
{
	const Path &path = *of_.path;
	if (path.futex_handovers < at_.handover_rate || path.futex_sleepers < at_.handover_sleepers)
		return;
	struct Process {
		std::string name;
		std::size_t threads = 0;
		double share = 0, longest = 0;
	};
	std::map<std::int32_t, Process> processes;
	for (const PathThread &thread : path.threads)
		if (thread.share >= at_.handover_thread) {
			Process &process = processes[thread.tgid];
			process.name = thread.process;
			++process.threads;
			process.share += thread.share;
			process.longest = std::max(process.longest, thread.share);
		}
	for (const auto &[tgid, process] : processes)
		if (process.threads >= 3 && process.longest < at_.handover_most && claims(process.share, at_.path))
			add("handover", process.share,
			    fmt::format("{} threads of {} take turns, by futex {:.0f} times a second, and {:.1f} of "
					"them sleep there on average: a lock, or work handed round.",
					process.threads, process.name, path.futex_handovers, path.futex_sleepers),
			    {{"process", process.name},
			     {"threads", process.threads},
			     {"per_second", path.futex_handovers},
			     {"sleepers", path.futex_sleepers}},
			    report({"offcpu", "--by", "waker"}), Confidence::medium);
}

void Judge::inversion()
{
	double share = 0;
	for (const Inversion &each : of_.path->inversions)
		share += each.share;
	if (!is_recorded("priority_inversion") || !claims(share, at_.priority_inversion))
		return;
	const auto longest = std::ranges::max_element(of_.path->inversions, {}, &Inversion::share);
	add("priority_inversion", share,
	    fmt::format("{} of it {} waited for {}, which has a lower priority and had no CPU because of {} between "
			"them.",
			percent(share), longest->sleeper, longest->holder, longest->between),
	    {{"sleeper", longest->sleeper}, {"holder", longest->holder}, {"between", longest->between}},
	    report({"critical-path", "--bounded"}));
}

void Judge::storm()
{
	const Storm &storm = of_.storm;
	if (storm.creations_per_second < at_.process_storm_creations ||
	    !claims(storm.share_of_cpu, at_.process_storm_cpu))
		return;
	const std::string number = report::count_text(static_cast<std::uint64_t>(storm.creations_per_second));
	const std::string started =
	    of_.path ? fmt::format("{} started {} processes and threads a second", of_.subject, number)
		     : fmt::format("{} processes and threads a second were started", number);
	add("process_storm", storm.share,
	    fmt::format("{}; those that lived under {:.0f} ms used {} of {} CPU time.", started,
			at_.process_storm_life_ms, percent(storm.share_of_cpu), of_.path ? "its" : "the"),
	    {{"per_second", storm.creations_per_second}, {"share_of_cpu", storm.share_of_cpu}},
	    report({"--by", "command"}));
}

void Judge::call_edges()
{
	for (const Use &use : of_.machine.users) {
		if (!is_recorded("call_edges") || use.cpus < at_.call_edges_user || !use.call_edges ||
		    !claims(*use.call_edges, at_.call_edges))
			continue;
		add("call_edges", *use.call_edges * (of_.path ? use.cpus : use.cpus / of_.cpus),
		    fmt::format("{} spends {} of its CPU time on entering and leaving system calls, {} of them in a "
				"second of CPU time.",
				use.label, percent(*use.call_edges),
				report::count_text(static_cast<std::uint64_t>(use.calls_per_second))),
		    {{"process", use.label}, {"share_of_cpu", *use.call_edges}, {"per_second", use.calls_per_second}},
		    report({"syscalls", "--sort", "count"}));
	}
}

// Without a path.
void Judge::users()
{
	const Machine &machine = of_.machine;
	for (const Use &use : machine.users)
		if (claims(use.cpus, at_.machine_user))
			add("user", use.cpus / of_.cpus,
			    fmt::format("{} used {:.2f} of {} CPUs.", use.label, use.cpus, of_.cpus),
			    {{"process", use.label}, {"cpus", use.cpus}}, report({"--by", "process"}));
	for (const auto &[group, share] : machine.throttled)
		if (claims(share, at_.path))
			add("throttled", share,
			    fmt::format("A CPU quota kept a thread of {} from running for {} of the time.", group,
					percent(share)),
			    {{"cgroup", group}}, report({"--by", "cgroup"}));
	if (machine.saturated && claims(*machine.saturated, at_.machine_saturated))
		add("waiting_others", *machine.saturated,
		    fmt::format(
			"For {} of the time all {} CPUs were busy and threads waited for one, {:.1f} on average.",
			percent(*machine.saturated), of_.cpus, machine.ready),
		    {{"ready", machine.ready}, {"busy", machine.busy}}, command("stat", {"--table", "runqueue"}));
}

void Judge::balance()
{
	const Machine &machine = of_.machine;
	double total = 0;
	std::size_t known = 0;
	for (const auto &share : machine.irqs) {
		total += share.value_or(0);
		known += share.has_value();
	}
	for (std::size_t cpu = 0; cpu < machine.irqs.size(); ++cpu) {
		if (!machine.irqs[cpu] || known < 2)
			continue;
		const double share = *machine.irqs[cpu];
		const double mean = (total - share) / static_cast<double>(known - 1);
		if (is_recorded("irq_imbalance") && claims(share, at_.irq_imbalance) &&
		    share >= at_.irq_imbalance_ratio * mean)
			add("irq_imbalance", share,
			    fmt::format("CPU {} spent {} of its time in interrupts and softirqs, the others {}.", cpu,
					percent(share), percent(mean)),
			    {{"cpu", cpu}, {"others", mean}}, report({"--by", "cpu"}));
	}
	if (machine.steal && *machine.steal - machine.steal_grain >= at_.steal) {
		add("steal", *machine.steal,
		    fmt::format("The hypervisor took at least {} of this machine's CPU time.",
				percent(*machine.steal - machine.steal_grain)),
		    {{"grain", machine.steal_grain}}, report({"--by", "cpu"}));
		found_.back().bound = machine.steal_grain;
	}
}

// What was lost or is not known comes first.
void Judge::uncertain()
{
	const bool has_lost = of_.lost.value_or(1) > 0;
	if (!has_lost && of_.unknown < at_.uncertain)
		return;
	std::string text =
	    !of_.lost  ? "How many events were lost is not known" + (of_.lost_text.empty() ? "" : ": " + of_.lost_text)
	    : has_lost ? report::count_text(*of_.lost) + " events were lost"
		       : "";
	const Amounts why = of_.path ? amounts(of_.path->parts, What::unknown, detail) : Amounts();
	const bool is_worth_a_word = of_.unknown >= 0.0005;
	if (is_worth_a_word || text.empty())
		text += fmt::format("{}{} of {} is not known{}{}", text.empty() ? "" : "; ", percent(of_.unknown),
				    of_.path ? "it" : "the CPU time", why.empty() ? "" : " (",
				    why.empty() ? "" : texts(why) + ")");
	add("uncertain", of_.unknown,
	    text + (is_worth_a_word ? ": what follows may be wrong by that much, and more may be hidden."
				    : ": what follows may be wrong."),
	    {{"lost", of_.lost ? Json(*of_.lost) : Json(nullptr)}, {"unknown", json_of(why)}},
	    has_lost || !of_.path ? command("check") : report({"critical-path"}));
}

void Judge::measurement()
{
	if (!of_.measurement || *of_.measurement < at_.measurement)
		return;
	add("measurement", *of_.measurement,
	    fmt::format("Measuring took at least {} of the CPU time that was used: the program alone is faster.",
			percent(*of_.measurement)),
	    {{"share_of_cpu", *of_.measurement}}, command("info"));
	found_.back().bound = 0;
}

void Judge::nothing()
{
	std::string text;
	if (of_.path)
		text = fmt::format("Nothing stands out: no cause has {} of it.", percent(at_.path));
	else
		text = fmt::format(
		    "Nothing unusual: the CPUs were idle for {} of the time, {:.2f} threads waited for one "
		    "on average.",
		    percent(1 - std::min(of_.machine.busy / std::max(of_.cpus, 1u), 1.0)), of_.machine.ready);
	add("nothing", 0, text, {{"busy", of_.machine.busy}, {"ready", of_.machine.ready}}, report({}));
}

std::string Judge::head() const
{
	const std::string elapsed = report::duration_text(static_cast<double>(of_.elapsed_ns));
	const std::string lost = !of_.lost        ? "how much was lost is not known"
				 : *of_.lost == 0 ? "nothing was lost"
						  : report::count_text(*of_.lost) + " events were lost";
	const std::string what = of_.from.empty() && of_.path ? of_.subject + " took " + elapsed
				 : of_.path
				     ? fmt::format("{}, {} from {} to {}", of_.subject, elapsed, of_.from, of_.to)
				     : fmt::format("{} of the machine {}", elapsed, of_.subject);
	const std::string cost =
	    of_.cost.starts_with("unknown") ? "what measuring took is not known" : "measuring took " + of_.cost;
	return fmt::format("{}; {}; {}.", what, lost, cost);
}

void Judge::look_for(Explanation &explanation) const
{
	for (const KeyName &each : key_names) {
		const bool is_of_machine = !each.of_path || std::ranges::count(keys_of_machine, std::string(each.key));
		const auto has = [&](const char *key) {
			return std::ranges::count(explanation.findings, key, &Finding::key) > 0;
		};
		const std::string key = each.key;
		const bool is_of_one = has("one_thread") && (key == "user" || key == "call" || key == "fault");
		const bool is_found = has(each.key) || is_of_one;
		// Of the only thread that does anything it cannot be said, though it may be true.
		const bool is_pointless =
		    key == "one_thread" && of_.path && of_.path->others_ran < at_.one_thread_others;
		if ((of_.path || is_of_machine) && !is_found)
			explanation.looked_for.push_back(
			    {each.key, is_pointless ? "" : each.name, is_recorded(each.key)});
	}
}

Explanation Judge::judged()
{
	Explanation explanation;
	explanation.head = head();
	explanation.elapsed_ns = of_.elapsed_ns;
	explanation.bound = of_.unknown;
	uncertain();
	const bool is_uncertain = !found_.empty();
	measurement();
	const auto first = static_cast<std::ptrdiff_t>(found_.size());
	if (of_.path) {
		code();
		interrupts();
		sleeps();
		ready();
		handover();
		inversion();
	} else {
		users();
	}
	storm();
	call_edges();
	std::stable_sort(found_.begin() + first, found_.end(),
			 [](const Finding &a, const Finding &b) { return a.share > b.share; });
	balance();
	if (found_.size() == static_cast<std::size_t>(first) && !is_uncertain)
		nothing();
	explanation.findings = std::move(found_);
	look_for(explanation);
	return explanation;
}

} // namespace

Explanation judge(const Evidence &evidence, const Thresholds &thresholds)
{
	return Judge(evidence, thresholds).judged();
}

} // namespace monitor::explain
