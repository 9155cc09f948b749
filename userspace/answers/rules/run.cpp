// SPDX-License-Identifier: MIT
#include "run.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "answers/listing/listing.h"
#include "reading/events/merge.h"
#include "runners.h"

namespace monitor::rules {
namespace {

using Lines = std::map<Position, std::string>;

class Pass {
public:
	Pass(trace::Trace &trace, const std::vector<RuleText> &texts, std::size_t max_kept)
	    : trace_(trace), rules_of_class_(trace.description().classes().size()), seen_(rules_of_class_.size())
	{
		rules_.reserve(texts.size()); // judges refer to the elements
		for (const RuleText &text : texts) {
			rules_.push_back(compile(text, trace.description(), trace.begin_time()));
			judges_.emplace_back(rules_.back(), trace.description().clock, max_kept);
		}
		for (std::size_t i = 0; i < rules_.size(); ++i)
			assign_classes(i);
	}

	void read()
	{
		trace::Listing listing(trace_, {}, -1); // tracks running threads; prints nothing
		Runners runners(trace_.description());
		std::uint64_t last_time = trace_.first_time();
		const auto event = [&](const trace::Event &event, std::int64_t running, const trace::Threads &threads) {
			seen_[event.cls->index] = true;
			last_time = event.time;
			if (runners.is_unseen_switch(event, running))
				for (Judge &judge : judges_)
					judge.on_unseen_switch(event, {running, &threads});
			for (const std::size_t i : rules_of_class_[event.cls->index])
				judges_[i].event(event, {running, &threads});
			return false;
		};
		trace::merge(
		    trace_, {}, [&](const trace::Event &each) { listing.print(each, event); },
		    [&](const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t) {
			    listing.gap(stream);
			    for (Judge &judge : judges_)
				    judge.gap(from, to);
		    });
		for (Judge &judge : judges_)
			judge.finish(last_time);
	}

	std::vector<Outcome> outcomes(bool json)
	{
		std::vector<Outcome> made;
		for (std::size_t i = 0; i < rules_.size(); ++i)
			made.push_back(outcome(rules_[i], judges_[i]));
		const Lines lines = read_again(made, json);
		for (std::size_t i = 0; i < rules_.size(); ++i)
			if (made[i].verdict == Outcome::Verdict::fails)
				made[i].shown = shown(judges_[i].violations(), lines);
		return made;
	}

private:
	void assign_classes(std::size_t rule)
	{
		const Rule &of = rules_[rule];
		for (const auto &cls : trace_.description().classes()) {
			const bool has_role = std::any_of(of.pattern.begin(), of.pattern.end(), [&](const auto &each) {
				return each && each->can_match(*cls);
			});
			if (of.reason.empty() && (has_role || of.form == Form::never))
				rules_of_class_[cls->index].push_back(rule);
		}
	}

	// Why the rule cannot be judged on this trace, or "".
	std::string reason(const Rule &rule, const Judge &judge) const
	{
		if (!rule.reason.empty())
			return rule.reason;
		for (const std::string &event : rule.needs) {
			const auto classes = trace_.description().find(event);
			if (std::none_of(classes.begin(), classes.end(),
					 [&](const trace::EventClass *cls) { return seen_[cls->index]; }))
				return fmt::format("the trace has no event {}, which it needs", event);
		}
		for (const auto &pattern : rule.pattern)
			if (const std::string left_out = pattern ? left_out_form(*pattern) : "";
			    !left_out.empty() && judge.tally().violated == 0)
				return left_out;
		return judge.has_begun() || judge.tally().judged || !rule.pattern[begin]
			   ? ""
			   : "no event that `begin:` selects ever came";
	}

	// A note if the pattern's fields are missing in a form of an event of the kernel that may be meant. (Programs'
	// events of one name are different programs'.)
	std::string left_out_form(const filter::Filter &pattern) const
	{
		const filter::LeftOut found =
		    filter::left_out(pattern, trace_.description(),
				     [&](const trace::EventClass &cls) { return pattern.can_match(cls); });
		return found.form && found.form->domain != trace::Domain::user && seen_[found.form->index]
			   ? filter::left_out_text(found)
			   : "";
	}

	Outcome outcome(const Rule &rule, const Judge &judge) const
	{
		using Verdict = Outcome::Verdict;
		const Tally &tally = judge.tally();
		const std::string why_not = reason(rule, judge);
		if (!why_not.empty())
			return {Verdict::not_checked, rule.name, rule.name + ": " + why_not, tally, {}};
		const std::string rest = left_out(tally);
		if (tally.violated)
			return {Verdict::fails,
				rule.name,
				fmt::format("{}: violated {} times in {} cases{}", rule.name, tally.violated,
					    tally.judged, rest),
				tally,
				{}};
		if (tally.judged == 0)
			return {Verdict::not_checked,
				rule.name,
				fmt::format("{}: the trace has no case of it{}", rule.name, rest),
				tally,
				{}};
		return {tally.too_many || tally.undecided ? Verdict::not_checked : Verdict::holds,
			rule.name,
			fmt::format("{}: {} cases{}", rule.name, tally.judged, rest),
			tally,
			{}};
	}

	static std::string left_out(const Tally &tally)
	{
		std::string text;
		const auto add = [&text](std::uint64_t count, const char *what) {
			if (count)
				text += fmt::format("; {} {}", count, what);
		};
		add(tally.too_many, "not judged, as more was open than can be kept");
		add(tally.open, "open at the end");
		add(tally.cut, "cut off by losses, or by a limit of the rule");
		add(tally.undecided, "not judged, as what the event does not say would follow from earlier events, "
				     "which were lost or not recorded");
		add(tally.unknown, "not judged, as what came before is unknown");
		return text;
	}

	// Formats the events that violations refer to.
	Lines read_again(const std::vector<Outcome> &outcomes, bool json)
	{
		Lines lines;
		for (std::size_t i = 0; i < judges_.size(); ++i)
			if (outcomes[i].verdict == Outcome::Verdict::fails)
				for (const Violation &violation : judges_[i].violations())
					for (const Position &position : violation.events)
						lines.emplace(position, "");
		if (lines.empty())
			return lines;
		trace::ListingOptions options;
		options.json = json;
		trace::Listing listing(trace_, options, -1);
		const auto is_wanted = [&](const trace::Event &event, std::int64_t, const trace::Threads &) {
			return lines.contains(Position::of(event));
		};
		trace::merge(
		    trace_, {0, lines.rbegin()->first.time},
		    [&](const trace::Event &event) {
			    listing.print(event, is_wanted);
			    if (std::string line = listing.take_lines(); !line.empty())
				    lines[Position::of(event)] = line.substr(0, line.size() - 1);
		    },
		    [&](const trace::StreamInfo &stream, std::uint64_t, std::uint64_t, std::uint64_t) {
			    listing.gap(stream);
		    });
		return lines;
	}

	static std::vector<Shown> shown(const std::vector<Violation> &violations, const Lines &lines)
	{
		std::vector<Shown> made;
		for (const Violation &violation : violations) {
			Shown &each = made.emplace_back(Shown{violation.what, {}});
			for (const Position &position : violation.events)
				each.events.push_back(lines.at(position));
		}
		return made;
	}

	trace::Trace &trace_;
	std::vector<Rule> rules_;
	std::vector<Judge> judges_;
	std::vector<std::vector<std::size_t>> rules_of_class_; // rules, by class index
	std::vector<bool> seen_;                               // by class index
};

} // namespace

std::vector<Outcome> run(trace::Trace &trace, const std::vector<RuleText> &texts, const Options &options)
{
	Pass pass(trace, texts, options.violations);
	pass.read();
	return pass.outcomes(options.json);
}

} // namespace monitor::rules
