// SPDX-License-Identifier: MIT
#include "rules.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "answers/report/table.h"
#include "claims.h"
#include "machine_rules.h"
#include "path_rules.h"
#include "slow_parts.h"

namespace monitor::explain {
namespace {

// The keys of findings with their names in the text. Those `of_path` are looked for without a path only if they are
// among keys_of_machine.
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

const char *words_of(What what)
{
	switch (what) {
	case What::user:
		return "user code";
	case What::call:
	case What::kernel:
		return "work in calls";
	case What::fault:
		return "page faults";
	case What::edges:
		return "entering and leaving calls and faults";
	case What::irq:
	case What::interrupt:
		return "interrupts";
	case What::softirq:
		return "softirqs";
	case What::timer:
		return "timers";
	case What::disk:
		return "disk";
	case What::network:
		return "network";
	case What::open:
	case What::other_process:
	case What::file_lock:
		return "sleep in calls";
	case What::stopped:
		return "stops by signals";
	case What::ready_own:
		return "waiting for its own threads";
	case What::ready_others:
		return "waiting for CPUs";
	case What::ready_idle:
	case What::ready_idle_long:
		return "wake-up latency";
	case What::throttled:
		return "throttling";
	case What::memory_reclaim:
		return "memory reclaim";
	case What::unknown:
		break;
	}
	return "not known";
}

class Judge final : Claims {
public:
	using Claims::Claims;

	Explanation judged();

private:
	void uncertain();
	void measurement();
	void nothing();
	std::string head() const;
	void look_for(Explanation &explanation, const std::vector<PathPart> &rest) const;
	std::string rest_text(const PathRules &path, const std::vector<Finding> &findings) const;
};

// What was lost or is not known comes first.
void Judge::uncertain()
{
	const bool has_lost = evidence_.lost.value_or(1) > 0;
	if (!has_lost && evidence_.unknown < thresholds_.uncertain)
		return;
	std::string text = !evidence_.lost ? "How many events were lost is not known" +
						 (evidence_.lost_text.empty() ? "" : ": " + evidence_.lost_text)
			   : has_lost ? lost_events()
				      : "";
	const Amounts why = evidence_.path ? amounts(evidence_.path->parts, What::unknown,
						     [](const PathPart &part) { return part.detail; })
					   : Amounts();
	const bool is_worth_a_word = evidence_.unknown >= 0.0005;
	if (is_worth_a_word || text.empty())
		text += fmt::format("{}{} of {} is not known{}{}", text.empty() ? "" : "; ", percent(evidence_.unknown),
				    evidence_.path ? "it" : "the CPU time", why.empty() ? "" : " (",
				    why.empty() ? "" : texts(why) + ")");
	add("uncertain", evidence_.unknown,
	    text + (is_worth_a_word ? ": what follows may be wrong by that much, and more may be hidden."
				    : ": what follows may be wrong."),
	    {{"lost", evidence_.lost ? Json(*evidence_.lost) : Json(nullptr)}, {"unknown", json_of(why)}},
	    has_lost || !evidence_.path ? command("check") : report({"critical-path"}));
	found_.back().is_caveat = true;
}

void Judge::measurement()
{
	if (!evidence_.measurement || *evidence_.measurement < thresholds_.measurement)
		return;
	add("measurement", *evidence_.measurement,
	    fmt::format("Measuring took at least {} of the CPU time that was used: the program alone is faster.",
			percent(*evidence_.measurement)),
	    {{"share_of_cpu", *evidence_.measurement}}, command("info"));
	found_.back().is_caveat = true;
	found_.back().bound = 0;
}

void Judge::nothing()
{
	const bool knows_ready = is_recorded("waiting_others");
	std::string text;
	if (evidence_.path)
		text = fmt::format("Nothing stands out: no cause has {} of it.", percent(thresholds_.path));
	else
		text = fmt::format(
		    "Nothing unusual: the CPUs were idle for {} of the time{}.",
		    percent(1 - std::min(evidence_.machine.busy / std::max(evidence_.cpus, 1u), 1.0)),
		    knows_ready ? fmt::format(", {:.2f} threads waited for one on average", evidence_.machine.ready)
				: "");
	add("nothing", 0, text,
	    {{"busy", evidence_.machine.busy}, {"ready", knows_ready ? Json(evidence_.machine.ready) : Json(nullptr)}},
	    report({}));
}

std::string Judge::head() const
{
	const std::string elapsed = report::duration_text(static_cast<double>(evidence_.elapsed_ns));
	const std::string lost = !evidence_.lost        ? "how much was lost is not known"
				 : *evidence_.lost == 0 ? "nothing was lost"
							: lost_events();
	const std::string what = evidence_.from.empty() && evidence_.path ? evidence_.subject + " took " + elapsed
				 : evidence_.path ? fmt::format("{}, {} from {} to {}", evidence_.subject, elapsed,
								evidence_.from, evidence_.to)
						  : fmt::format("{} of the machine {}", elapsed, evidence_.subject);
	const std::string cost = evidence_.cost.starts_with("unknown") ? "what measuring took is not known"
								       : "measuring took " + evidence_.cost;
	return fmt::format("{}; {}; {}.", what, lost, cost);
}

// `rest`: the parts in no finding. A cause is not said to be below what matters if its parts together are not.
void Judge::look_for(Explanation &explanation, const std::vector<PathPart> &rest) const
{
	std::map<std::string, double> shares; // by key
	for (const PathPart &part : rest)
		shares[part.what == What::ready_own ? "waiting_own" : key_and_text(part).first] += part.share;
	for (const KeyName &each : key_names) {
		const bool is_of_machine = !each.of_path || std::ranges::count(keys_of_machine, std::string(each.key));
		const auto has = [&](const char *key) {
			return std::ranges::count(explanation.findings, key, &Finding::key) > 0;
		};
		const std::string key = each.key;
		const bool is_of_one = has("one_thread") && (key == "user" || key == "call" || key == "fault");
		const bool is_found = has(each.key) || is_of_one;
		// Beside a single active thread there is none to compare it with.
		const bool is_pointless =
		    key == "one_thread" && evidence_.path && evidence_.path->others_ran < thresholds_.one_thread_others;
		const bool is_unsaid = is_pointless || (is_recorded(key) && shares[key] >= thresholds_.path);
		if ((evidence_.path || is_of_machine) && !is_found)
			explanation.looked_for.push_back({each.key, is_unsaid ? "" : each.name, is_recorded(each.key)});
	}
}

// What is too little for a sentence, so that the shares add up.
std::string Judge::rest_text(const PathRules &path, const std::vector<Finding> &findings) const
{
	std::vector<PathPart> parts = path.rest();
	for (PathPart &part : parts)
		if ((part.what == What::edges && std::ranges::count(findings, "call_edges", &Finding::key)) ||
		    (part.what == What::unknown && std::ranges::count(findings, "uncertain", &Finding::key)))
			part.share = 0;
	std::map<std::string, double> sums;
	for (const PathPart &part : parts)
		sums[words_of(part.what)] += part.share;
	const Amounts of = sorted(sums);
	const double rest = sum(of) - path.claimed_of_rest();
	if (rest < thresholds_.path)
		return "";
	if (path.claimed_of_rest() > 0)
		return fmt::format("In no sentence: at least {} of it.", percent(rest));
	return fmt::format("In no sentence: {} of it, of which {}.", percent(rest), texts(of));
}

Explanation Judge::judged()
{
	uncertain();
	const bool is_uncertain = !found_.empty();
	measurement();
	MachineRules machine(evidence_, thresholds_);
	std::optional<PathRules> path;
	std::vector<Finding> causes;
	if (evidence_.path)
		causes = path.emplace(evidence_, thresholds_).found();
	std::ranges::move(machine.of_processes(), std::back_inserter(causes));
	std::ranges::stable_sort(causes, std::greater<>(), &Finding::share);
	std::ranges::move(machine.of_cpus(), std::back_inserter(causes));
	if (causes.empty() && !is_uncertain)
		nothing();
	std::ranges::move(causes, std::back_inserter(found_));
	Explanation explanation;
	explanation.head = head();
	explanation.elapsed_ns = evidence_.elapsed_ns;
	explanation.bound = evidence_.unknown;
	explanation.findings = std::move(found_);
	look_for(explanation, path ? path->rest() : std::vector<PathPart>());
	if (path)
		explanation.rest = rest_text(*path, explanation.findings);
	return explanation;
}

} // namespace

Explanation judge(const Evidence &evidence, const Thresholds &thresholds)
{
	return Judge(evidence, thresholds).judged();
}

} // namespace monitor::explain
