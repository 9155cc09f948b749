// SPDX-License-Identifier: MIT
#include "card_options.h"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "recording/card/classes.h"
#include "recording/card/preflight_checks.h"
#include "recording/counting/ratio_pairs.h"
#include "recording/rings/clock.h"
#include "stack_choice.h"

namespace monitor::record {
namespace {

void choose_counters(const Counting &counting, card::CardOptions &card)
{
	const pmu::Selection &selection = counting.selection;
	for (const auto &set : selection.sets)
		card.counters_in_set.push_back(static_cast<unsigned>(set.size()));
	card.ratios.bits = bits_of(counting.format);
	if (card.ratios.bits)
		for (const RatioPair &pair : ratio_pairs(selection))
			card.ratios.pairs.emplace_back(slot_of(selection, pair.numerator),
						       slot_of(selection, pair.denominator));
	card.counters_every_ns = counting.every_ns;
	card.resets = counting.resets;
}

// Why the kernel module's card cannot record the request; "" if it can.
std::string why_not_module(const Options &options, const std::vector<std::string> &families)
{
	if (std::string why = card::why_no_module(); !why.empty())
		return why;
	if (!card::has_invariant_tsc())
		return "this machine has no time stamp counter of constant rate, which the module needs";
	if (options.counting && (options.counting->every_ns || !options.counting->reset_names().empty() ||
				 options.counting->format != RatioFormat::exact))
		return "it reads counters only at switches; for --every, --reset-on, triggers that reset and "
		       "--ratio-format use --card bpf";
	if (options.matching && std::ranges::any_of(options.matching->request.triggers, &NamedTrigger::reads))
		return "it reads counters only at switches; for triggers that read use --card bpf";
	if (options.calibrates_in_phases)
		return "its probes are not detached by --calibrate";
	if (options.statistics && options.statistics->counts_only)
		return "--count-only is of the BPF card's probes";
	if (!options.functions.empty())
		return "functions are probed by the BPF card";
	if (options.stacks.any())
		return "stacks are taken by the BPF card's probes";
	const bool is_typed = ::access("/sys/kernel/btf/monitor_edc", F_OK) == 0;
	const auto needs_types = [](const std::string &family) { return family == "power" || family == "block"; };
	if (is_typed || (!options.filtering() && !options.counting && std::ranges::none_of(families, needs_types)))
		return "";
	return "it was built without type information (BTF), which the families power and block, -p and -m need; build "
	       "it with the package dwarves installed, or leave them out";
}

bool takes_module(const Options &options, const std::vector<std::string> &families)
{
	if (options.card == "bpf")
		return false;
	const std::string why = why_not_module(options, families);
	if (options.card == "module" && !why.empty())
		throw Error("--card module: " + why);
	return why.empty();
}

// Classes to leave out, except those at which stacks are taken.
std::vector<std::string> left_out_of(const Options &options)
{
	const std::vector<std::string> needed = families_of(options.stacks);
	std::vector<std::string> classes = options.left_out;
	std::erase_if(classes,
		      [&](const std::string &name) { return std::ranges::count(needed, card::family_of(name)); });
	return classes;
}

} // namespace

std::string why_no_samples(const Options &options)
{
	if (!options.stacks.of_command)
		return "";
	if (options.calibrates_in_phases)
		return "with --calibrate they are left out, because they take time that depends on the stack";
	Options without = options;
	without.stacks = {};
	if (takes_module(without, chosen_families(without)))
		return "the kernel module takes none; --card bpf does";
	return card::why_no_stack_timer(options.stacks.timer_hz);
}

std::vector<std::string> chosen_families(const Options &options)
{
	std::vector<std::string> names = options.families;
	if (names.empty())
		for (const card::Family &family : card::families())
			if (family.by_default)
				names.push_back(family.name);
	if (options.sample_every_ns ||
	    (options.matching && std::ranges::any_of(options.matching->request.triggers, &NamedTrigger::samples)))
		names.push_back("sample");
	for (const std::string &family : families_of(options.stacks))
		if (std::ranges::find(names, family) == names.end())
			names.push_back(family);
	if (!options.functions.empty())
		names.emplace_back("function");
	return names;
}

void expect_families(const Options &options, const EventMatcher &matcher,
		     const std::function<void(const std::string &)> &warn)
{
	const std::vector<std::string> recorded =
	    options.user_only ? std::vector<std::string>() : chosen_families(options);
	const std::vector<std::string> left_out = left_out_of(options);
	const auto is_in = [](const std::vector<std::string> &all, const std::string &name) {
		return std::ranges::find(all, name) != all.end();
	};
	// Programs' events may have any field.
	const bool has_programs = !options.command.empty() || options.everyone;
	const auto expect_recorded = [&](const std::string &what, const auto &concerns, bool may_be_of_programs) {
		std::vector<std::string> families;
		for (const EventMatcher::Class &cls : matcher.classes) {
			const std::string family = card::family_of(cls.name);
			if (!concerns(cls))
				continue;
			if (family.empty() || (is_in(recorded, family) && !is_in(left_out, cls.name)) ||
			    (EDC_ALWAYS_KEPT(cls.id) && !options.user_only))
				return; // of a program, or recorded
			families.push_back(family);
		}
		for (const std::string &family : families) {
			if (options.user_only) {
				warn(what + ": the kernel's events that it is about are not recorded: leave out "
					    "--user-only, unless programs have such events");
				return;
			}
			if (!options.families.empty())
				throw Error("{}: its events are of the family {}, which is not recorded{}: add it to "
					    "-e",
					    what, family, is_in(recorded, family) ? " whole" : "");
			const std::string text = fmt::format("{}: events of the family {} are recorded by "
							     "--sample-every, --stacks or --functions",
							     what, family);
			if (!may_be_of_programs)
				throw Error(text);
			warn(text + ", which is not given; programs may have such events");
		}
	};
	const MatcherRequest &request = options.matching->request;
	const auto counts_samples = [](const EventMatcher::Class &cls) {
		return cls.id == EDC_ID_SAMPLE && cls.is_counted();
	};
	if (options.sample_every_ns && !request.keeps_tokens && std::ranges::none_of(matcher.classes, counts_samples))
		throw Error("--sample-every: with --no-tokens samples are only counted, but none of the counts is of "
			    "samples: add for example --count 'idle=name == \"sample\" and doing == \"idle\"'");
	const auto is_kept = [](const EventMatcher::Class &cls) {
		return cls.decision != EDC_MATCH_NONE && !cls.is_always_kept;
	};
	const auto has = [](std::uint64_t EventMatcher::Class::*bits, std::size_t bit) {
		return [bits, bit](const EventMatcher::Class &cls) { return cls.*bits >> bit & 1; };
	};
	if (request.filter)
		expect_recorded("--filter", is_kept, has_programs);
	for (std::size_t i = 0; i < request.counts.size(); ++i)
		expect_recorded("--count " + request.counts[i].name, has(&EventMatcher::Class::counts, i),
				has_programs);
	for (std::size_t i = 0; i < request.times.size(); ++i)
		for (const std::size_t bit : {i, EDC_TIMES + i})
			expect_recorded("--time " + request.times[i].name, has(&EventMatcher::Class::belongs, bit),
					false);
	for (std::size_t i = 0; i < request.triggers.size(); ++i)
		for (const std::size_t bit : {EDC_FIRST_INPUT + 2 * i, EDC_FIRST_INPUT + 2 * i + 1})
			expect_recorded(request.triggers[i].title(), has(&EventMatcher::Class::belongs, bit), false);
}

card::CardOptions card_options(const Options &options, unsigned cpus, const Uuid &uuid, const EventMatcher *matcher)
{
	card::CardOptions card;
	card.families = chosen_families(options);
	card.left_out = left_out_of(options);
	card.filtering = options.filtering();
	card.overwriting = options.flight.has_value();
	card.counts_only = options.statistics && options.statistics->counts_only;
	card.matching = options.matching.has_value();
	if (options.matching) {
		const MatcherRequest &request = options.matching->request;
		card.times = static_cast<unsigned>(request.times.size());
		card.triggers = static_cast<unsigned>(request.triggers.size());
		card.pausing = std::ranges::any_of(request.triggers, &NamedTrigger::stops);
		card.sampling = std::ranges::any_of(request.triggers, &NamedTrigger::samples);
		for (unsigned i = 0; i < card.triggers; ++i) {
			card.start_triggers |= unsigned{request.triggers[i].starts()} << i;
			card.reading_triggers |= unsigned{request.triggers[i].reads()} << i;
			card.stack_triggers |= unsigned{request.triggers[i].does(TriggerAct::Kind::stack)} << i;
		}
	}
	if (const edc_matcher *tables = matcher ? matcher->kernel_tables() : nullptr) {
		// `matcher` was made before the clock is known: a condition on the time may be one more to compare
		// then.
		card.matching_rows =
		    matcher->uses_time || std::ranges::any_of(tables->cls, [](const edc_match_class &cls) {
			    return cls.has_patterns && !cls.tests;
		    });
		for (std::size_t slot = 0; slot < card.decisions.size(); ++slot)
			card.decisions[slot] = static_cast<std::uint16_t>(tables->cls[slot].in_probe);
	}
	card.keeps_tokens = !options.matching || options.matching->request.keeps_tokens;
	card.suspending = options.calibrates_in_phases;
	card.module = takes_module(options, card.families);
	card.sample_every_ns = options.sample_every_ns;
	card.cpus = cpus;
	card.stacks = options.stacks;
	card.stacks.at_triggers = card.stack_triggers != 0;
	card.uuid = uuid;
	if (options.counting)
		choose_counters(*options.counting, card);
	return card;
}

} // namespace monitor::record
