// SPDX-License-Identifier: MIT
#include "expression_matcher.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/parse_error.h"
#include "matcher_tables.h"
#include "reading/filter/filter.h"
#include "reading/filter/pair_text.h"

namespace monitor::matcher {
namespace {

using Class = EventMatcher::Class;

std::string shell_quoted(std::string_view text)
{
	std::string quoted = "'";
	for (const char c : text)
		quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
	return quoted + "'";
}

// An expression and its purpose.
struct TargetExpression {
	unsigned target; // Tables::keep_target, or EDC_TARGET_*
	const std::string &text;
	filter::Filter filter;

	bool is_of_time() const { return target >= EDC_TARGET_STARTS && target < EDC_TARGET_INPUTS; }
	bool is_of_trigger() const { return target >= EDC_TARGET_INPUTS && target < EDC_TARGETS; }
};

class MatcherBuilder {
public:
	MatcherBuilder(const MatcherRequest &request, const trace::Description &description, std::uint64_t begin_time,
		       bool more_classes)
	    : request_(request), description_(description), more_classes_(more_classes),
	      matcher_(std::make_unique<EventMatcher>())
	{
		const auto add_expression = [&](unsigned target, const std::string &text) {
			std::vector<std::string> doubts;
			try {
				expressions_.push_back(
				    {target, text,
				     filter::Filter(text, description, begin_time, {}, more_classes ? &doubts : nullptr,
						    filter::Evaluator::probe)});
			} catch (const ParseError &error) { // names the expression among several
				throw ParseError(option_of(target), text, error.position().offset, error.sentence());
			}
			for (const std::string &doubt : doubts) {
				if (target < EDC_TARGETS)
					found_[target].unknown = doubt;
				if (std::ranges::find(matcher_->doubts, doubt) == matcher_->doubts.end())
					matcher_->doubts.push_back(doubt);
			}
		};
		if (request.filter)
			add_expression(Tables::keep_target, *request.filter);
		for (std::size_t i = 0; i < request.counts.size(); ++i)
			add_expression(static_cast<unsigned>(i), request.counts[i].expression);
		for (unsigned i = 0; i < request.times.size(); ++i) {
			add_expression(EDC_TARGET_STARTS + i, request.times[i].start);
			add_expression(EDC_TARGET_ENDS + i, request.times[i].end);
		}
		for (unsigned i = 0; i < request.triggers.size(); ++i) {
			if (!request.triggers[i].first.empty())
				add_expression(EDC_TARGET_INPUTS + 2 * i, request.triggers[i].first);
			if (!request.triggers[i].second.empty())
				add_expression(EDC_TARGET_INPUTS + 2 * i + 1, request.triggers[i].second);
		}
	}

	std::unique_ptr<EventMatcher> build()
	{
		for (const auto &cls : description_.classes())
			matcher_->classes.push_back(more_classes_ && cls->domain == trace::Domain::user
							? decide_if_possible(*cls)
							: decide(*cls));
		for (std::size_t i = 0; i < request_.counts.size(); ++i)
			if (!found_[i].has_match && !found_[i].uncounted.empty())
				throw Error("--count {}: tokens of {} belong to other events: they cannot be counted",
					    request_.counts[i].name, found_[i].uncounted);
		for (std::size_t i = 0; i < request_.times.size(); ++i)
			check_both_found(request_.times[i], found_[EDC_TARGET_STARTS + i], found_[EDC_TARGET_ENDS + i]);
		for (std::size_t i = 0; i < request_.triggers.size(); ++i)
			set_trigger(i);
		for (const TargetExpression &expression : expressions_)
			warn_of_left_out(expression);
		if (const auto kernel = tables_.find(EventMatcher::group_of(EDC_ID_KERNEL_FIRST));
		    kernel != tables_.end())
			matcher_->used = kernel->second.used();
		matcher_->uses_time = std::ranges::any_of(
		    expressions_, [](const TargetExpression &expression) { return expression.filter.uses_time(); });
		return std::move(matcher_);
	}

private:
	// Which classes match a count or a time.
	struct Found {
		bool has_match = false, of_kernel = false, of_switches = false;
		std::string uncounted;
		std::string keyless; // events that lack the key
		std::string unknown; // names in its expression that no kernel event has
	};

	static void check_both_found(const NamedTime &time, const Found &starts, const Found &ends)
	{
		for (const auto &[found, key, what] :
		     {std::tuple(&starts, &time.start_key, "starts"), std::tuple(&ends, &time.end_key, "ends")})
			if (!found->has_match)
				throw Error(
				    !found->unknown.empty() && found->keyless.empty()
					? fmt::format(
					      "--time {}, what {} it: {} `monitor events` lists its events; those of "
					      "programs are timed afterwards: monitor stat DIR --pair 'A then B'",
					      time.name, what, found->unknown)
				    : found->keyless.empty()
					? fmt::format("--time {}: no event of the kernel {} it; events of programs are "
						      "timed afterwards: monitor stat DIR --pair 'A then B'",
						      time.name, what)
					: fmt::format("--time {}: {}, which {} it, has no number {}.{}", time.name,
						      found->keyless, what, *key, filter::key_hint({*key})));
	}

	void set_trigger(std::size_t i)
	{
		const NamedTrigger &trigger = request_.triggers[i];
		const std::string option = trigger.title();
		bool of_kernel[2] = {};
		for (const unsigned input : {0u, 1u}) {
			const Found &found = found_[EDC_TARGET_INPUTS + 2 * i + input];
			of_kernel[input] = found.of_kernel;
			if (found.has_match || (input ? trigger.second : trigger.first).empty() ||
			    has_programs_classes())
				continue;
			if (!found.uncounted.empty())
				throw Error("{}: tokens of {} belong to other events: they fire nothing", option,
					    found.uncounted);
			if (const std::string &key = input ? trigger.second_key : trigger.first_key;
			    !found.keyless.empty())
				throw Error("{}: {}, which it waits for, has no number {}.{}", option, found.keyless,
					    key, filter::key_hint({key}));
			if (!more_classes_)
				throw Error("{}: none of the kernel's events is one that it waits for", option);
		}
		const std::string &unknown = found_[EDC_TARGET_INPUTS + 2 * i + of_kernel[0]].unknown;
		if (!trigger.second.empty() && of_kernel[0] != of_kernel[1] && !has_programs_classes())
			throw Error(
			    unknown.empty()
				? fmt::format("{}: one of its two events is the kernel's, the other is not: events of "
					      "programs are met later, when the recorder reads their rings",
					      option)
				: fmt::format("{}: {} `monitor events` lists its events; those of programs, which are "
					      "met later, make no pair with one of the kernel",
					      option, unknown));
		if (!trigger.first.empty() && !of_kernel[0] && !has_programs_classes() &&
		    trigger.does(TriggerAct::Kind::stack))
			throw Error(option + ": it waits for programs' events, at which no stack is taken");
		const bool fires_at_second = trigger.kind == EDC_TRIGGER_THEN;
		if (trigger.reads() && found_[EDC_TARGET_INPUTS + 2 * i + fires_at_second].of_switches)
			throw Error(option + ": the counters are read at every switch anyway: leave switches out by "
					     "`and name != \"sched_switch\"`");
		if (trigger.reads() && !of_kernel[0] && !has_programs_classes())
			throw Error(option + ": it waits for programs' events, at which programs themselves read "
					     "counters: monitor report DIR activities");
		if (!trigger.first.empty() && !of_kernel[0] && !has_programs_classes() && matcher_->doubts.empty())
			matcher_->hints.push_back(
			    fmt::format("{}: none of the kernel's events is one that it waits for, "
					"so it waits for programs' events.",
					option));
		edc_trigger made{};
		made.kind = trigger.kind;
		made.within = trigger.within_ticks(description_.clock.frequency_hz);
		made.times = trigger.times;
		for (const TriggerAct &act : trigger.acts)
			made.acts |= act.kind == TriggerAct::Kind::snapshot ? EDC_ACT_HOLD
				     : act.kind == TriggerAct::Kind::start  ? EDC_ACT_START
				     : act.kind == TriggerAct::Kind::stop   ? EDC_ACT_STOP
				     : act.kind == TriggerAct::Kind::sample ? EDC_ACT_SAMPLE
				     : act.kind == TriggerAct::Kind::read   ? EDC_ACT_READ
				     : act.kind == TriggerAct::Kind::reset  ? EDC_ACT_RESET
									    : 0u;
		if (trigger.needs_recorder())
			made.acts |= EDC_ACT_NOTIFY;
		if (trigger.resets())
			made.reset = resets_++;
		tables_of(EDC_ID_KERNEL_FIRST).set_trigger(i, made);
	}

	// If programs may declare classes later, it is then too late to refuse.
	bool has_programs_classes() const
	{
		return more_classes_ && std::ranges::any_of(description_.classes(), [](const auto &cls) {
			       return cls->domain == trace::Domain::user;
		       });
	}

	static bool may_match(const Class &cls, unsigned target)
	{
		if (target == Tables::keep_target)
			return cls.decision != EDC_MATCH_NONE && !cls.is_always_kept;
		return target < EDC_TARGET_STARTS ? cls.counts >> target & 1
						  : cls.belongs >> (target - EDC_TARGET_STARTS) & 1;
	}

	// Warns if only long forms of an event can match, as all may be meant.
	void warn_of_left_out(const TargetExpression &expression)
	{
		const filter::LeftOut found =
		    filter::left_out(expression.filter, description_, [&](const trace::EventClass &cls) {
			    return may_match(matcher_->classes[cls.index], expression.target);
		    });
		if (found.form)
			matcher_->hints.push_back(
			    fmt::format("{}: {}{}", option_of(expression.target), filter::left_out_text(found),
					found.form->name == "sys_exit"
					    ? ": leave it out at the exit, which ends the call that its thread entered."
					    : "."));
	}

	Class decide(const trace::EventClass &cls)
	{
		Class made{static_cast<unsigned>(cls.id), cls.name, EDC_MATCH_KEEP, false, 0, 0, {}, 0};
		if (cls.domain == trace::Domain::recording) {
			made.is_always_kept = true;
			return made;
		}
		const bool is_of_kernel = cls.domain == trace::Domain::kernel;
		made.is_always_kept = request_.keeps_tokens && is_of_kernel && EDC_ALWAYS_KEPT(cls.id);
		Tables::ClassConditions decided;
		for (const TargetExpression &expression : expressions_)
			if (!made.is_always_kept || expression.target != Tables::keep_target)
				add_if_possible(expression, cls, is_of_kernel, decided);
		if (!request_.keeps_tokens)
			decided.decision = EDC_MATCH_NONE;
		if (!decided.is_plain())
			tables_of(made.id).add(EventMatcher::slot_of(made.id), decided);
		made.decision = decided.decision;
		made.counts = decided.counted;
		made.belongs = decided.belongs;
		for (const Tables::Pattern &pattern : decided.patterns)
			if (pattern.target < EDC_TARGET_STARTS)
				made.counts |= std::uint64_t(1) << pattern.target;
			else if (pattern.target != Tables::keep_target)
				made.belongs |= std::uint64_t(1) << (pattern.target - EDC_TARGET_STARTS);
		made.patterns = static_cast<unsigned>(decided.patterns.size());
		made.values = names_of(decided.patterns);
		return made;
	}

	// A program may declare a class for which an expression is undecidable, when it is too late to refuse. The
	// other expressions still apply.
	void add_if_possible(const TargetExpression &expression, const trace::EventClass &cls, bool is_of_kernel,
			     Tables::ClassConditions &decided)
	{
		if (is_of_kernel || !more_classes_)
			return add(expression, cls, is_of_kernel, decided);
		try {
			add(expression, cls, is_of_kernel, decided);
		} catch (const ParseError &error) {
			matcher_->notes.push_back(fmt::format("{}: events of {} {}: {}.", option_of(expression.target),
							      cls.name, effect_of_refusal(expression),
							      error.sentence()));
		}
	}

	static const char *effect_of_refusal(const TargetExpression &expression)
	{
		return expression.target == Tables::keep_target ? "are all kept"
		       : expression.is_of_trigger()             ? "fire nothing"
								: "are not counted";
	}

	// Falls back if the tables are full.
	Class decide_if_possible(const trace::EventClass &cls)
	{
		try {
			return decide(cls);
		} catch (const Error &error) {
			matcher_->notes.push_back(fmt::format(
			    "events of {} are kept, not counted, and fire nothing: {}.", cls.name, error.what()));
		}
		const auto id = static_cast<unsigned>(cls.id);
		matcher_->make_tables(EventMatcher::group_of(id)).cls[EventMatcher::slot_of(id)] = {};
		return {id, cls.name, EDC_MATCH_KEEP, false, 0, 0, {}, 0};
	}

	void add(const TargetExpression &expression, const trace::EventClass &cls, bool is_of_kernel,
		 Tables::ClassConditions &decided)
	{
		const bool keeps = expression.target == Tables::keep_target;
		const bool is_of_time = expression.is_of_time() || expression.is_of_trigger();
		if (expression.is_of_time() && !is_of_kernel)
			return; // programs' rings are read one after the other, not in the order of time
		const std::vector<filter::Product> products = products_of(expression, cls, is_of_kernel);
		if (is_of_time && !products.empty() && !add_key(expression.target, cls, decided))
			return;
		const bool is_all = products.size() == 1 && products[0].empty();
		if (!keeps && !products.empty()) {
			Found &found = found_[expression.target];
			if (is_of_kernel && EDC_NEVER_COUNTED(cls.id)) {
				found.uncounted = cls.name;
				return;
			}
			found.has_match = true;
			found.of_kernel |= is_of_kernel;
			found.of_switches |= cls.id == EDC_ID_SCHED_SWITCH;
		}
		if (keeps)
			decided.decision = products.empty() ? EDC_MATCH_NONE
					   : is_all         ? EDC_MATCH_KEEP
							    : EDC_MATCH_EVALUATE;
		else if (is_all && is_of_time)
			decided.belongs |= std::uint64_t(1) << (expression.target - EDC_TARGET_STARTS);
		else if (is_all)
			decided.counted |= std::uint64_t(1) << expression.target;
		for (const filter::Product &product : products)
			if (!is_all)
				decided.patterns.push_back({product, expression.target});
	}

	const NamedTime &time_of(unsigned target) const
	{
		return request_.times[(target - EDC_TARGET_STARTS) % EDC_TIMES];
	}

	const NamedTrigger &trigger_of(unsigned target) const
	{
		return request_.triggers[(target - EDC_TARGET_INPUTS) / 2];
	}

	const std::string &key_of(unsigned target) const
	{
		if (target >= EDC_TARGET_INPUTS)
			return (target - EDC_TARGET_INPUTS) % 2 ? trigger_of(target).second_key
								: trigger_of(target).first_key;
		return target >= EDC_TARGET_ENDS ? time_of(target).end_key : time_of(target).start_key;
	}

	// False: the class lacks the key, so its events do not match.
	bool add_key(unsigned target, const trace::EventClass &cls, Tables::ClassConditions &decided)
	{
		const std::string &name = key_of(target);
		if (name.empty())
			return true;
		const auto source = filter::key_source(name, cls);
		if (source)
			decided.keys.emplace(target, *source);
		else
			found_[target].keyless = cls.name;
		return source.has_value();
	}

	std::string option_of(unsigned target) const
	{
		if (target == Tables::keep_target)
			return "filter";
		if (target < EDC_TARGET_STARTS)
			return "--count " + request_.counts[target].name;
		if (target >= EDC_TARGET_INPUTS)
			return trigger_of(target).title();
		return fmt::format("--time {}, {}", time_of(target).name, target >= EDC_TARGET_ENDS ? "end" : "start");
	}

	// A product without factors: all events of the class.
	std::vector<filter::Product> products_of(const TargetExpression &expression, const trace::EventClass &cls,
						 bool is_of_kernel) const
	{
		const filter::Program &program = expression.filter.program(cls);
		filter::KnownValues known;
		known.mode = is_of_kernel ? EDC_MODE_KERNEL : EDC_MODE_USER;
		known.has_thread_names = is_of_kernel;
		if (!is_of_kernel)
			known.level = EDC_LEVEL_USER;
		try {
			return disjunction(program, known, EDC_MATCH_PATTERNS);
		} catch (const filter::Undecidable &undecidable) {
			throw ParseError(option_of(expression.target), expression.text, undecidable.at,
					 fmt::format("{}. To select events afterwards: monitor list DIR --filter {}",
						     undecidable.why, shell_quoted(expression.text)));
		}
	}

	static std::vector<std::string> names_of(const std::vector<Tables::Pattern> &patterns)
	{
		std::set<std::string> names;
		for (const Tables::Pattern &pattern : patterns)
			for (const filter::Factor &factor : pattern.product)
				names.insert(filter::name_of(factor.source));
		return {names.begin(), names.end()};
	}

	Tables &tables_of(unsigned id)
	{
		const unsigned group = EventMatcher::group_of(id);
		return tables_.try_emplace(group, matcher_->make_tables(group)).first->second;
	}

	const MatcherRequest &request_;
	const trace::Description &description_;
	bool more_classes_;
	std::unique_ptr<EventMatcher> matcher_;
	std::vector<TargetExpression> expressions_;
	std::array<Found, EDC_TARGETS> found_{}; // by target
	std::map<unsigned, Tables> tables_;
	unsigned resets_ = 0; // number of triggers that reset counters so far
};

} // namespace

std::unique_ptr<EventMatcher> make_matcher(const MatcherRequest &untrusted_request,
					   const trace::Description &description, std::uint64_t begin_time,
					   bool more_classes)
{
	return MatcherBuilder(untrusted_request, description, begin_time, more_classes).build();
}

} // namespace monitor::matcher
