// SPDX-License-Identifier: MIT
// The matcher in the kernel against the offline filter: a random filter and random counts on random events, judged by
// the BPF card's own code. Needs root.
//
//   match_differential SEED EXPRESSIONS EVENTS   EVENTS for each expression; exit code 1: a difference, 77: no BPF
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include "../unit/random_filters.h"
#include "answers/matcher/expression_matcher.h"
#include "card.skel.h"
#include "monitor/matcher_trial.h"

using namespace monitor;
using samples::RandomFilters;

namespace {

constexpr int counts = EDC_TRIAL_COUNTS; // beside each filter

int quiet(libbpf_print_level, const char *, va_list)
{
	return 0;
}

card *load()
{
	card *opened = card__open();
	if (!opened)
		return nullptr;
	bpf_program *program;
	bpf_object__for_each_program(program, opened->obj)
	    bpf_program__set_autoload(program, program == opened->progs.judge_values);
	opened->rodata->matching = 1;
	bpf_map__set_max_entries(opened->maps.rings, static_cast<__u32>(::sysconf(_SC_NPROCESSORS_CONF)));
	if (card__load(opened) == 0)
		return opened;
	card__destroy(opened);
	return nullptr;
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 4) {
		std::fprintf(stderr, "usage: match_differential SEED EXPRESSIONS EVENTS\n");
		return 2;
	}
	const long expressions = std::atol(argv[2]), events = std::atol(argv[3]);
	if (!std::getenv("MONITOR_DEBUG"))
		libbpf_set_print(quiet);
	card *loaded = ::geteuid() == 0 ? load() : nullptr;
	if (!loaded) {
		std::printf("skipped: the BPF card cannot be loaded (root and BTF are needed)\n");
		return 77;
	}
	RandomFilters random(static_cast<unsigned>(std::atol(argv[1])));
	std::uint64_t judged = 0, kept = 0, differences = 0;
	for (long i = 0; i < expressions; ++i) {
		MatcherRequest request{random.expression(), {}, true};
		std::vector<filter::Filter> filters;
		filters.emplace_back(*request.filter, *random.description, RandomFilters::begin_time);
		for (int n = 0; n < counts; ++n) {
			request.counts.push_back({"count", random.expression()});
			filters.emplace_back(request.counts.back().expression, *random.description,
					     RandomFilters::begin_time);
		}
		std::unique_ptr<EventMatcher> matcher;
		try {
			matcher = matcher::make_matcher(request, *random.description, RandomFilters::begin_time, false);
		} catch (const Error &) {
			continue; // too large for the tables
		}
		static const edc_matcher none{};
		loaded->data_matcher->matcher = matcher->kernel_tables() ? *matcher->kernel_tables() : none;
		for (long event = 0; event < events; ++event) {
			RandomFilters::Sample sample = random.sample();
			if (sample.id >= EDC_ID_USER_FIRST)
				continue;
			edc_matcher_trial trial{};
			trial.slot = sample.id - EDC_ID_KERNEL_FIRST;
			trial.rounds = 1;
			std::copy(std::begin(sample.value), std::end(sample.value), trial.value);
			LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &trial, .ctx_size_in = sizeof trial);
			if (bpf_prog_test_run_opts(bpf_program__fd(loaded->progs.judge_values), &options) < 0 ||
			    options.retval != 0) {
				std::perror("the program cannot be run");
				return 1;
			}
			++judged;
			kept += trial.kept;
			for (int n = -1; n < counts; ++n) {
				const filter::Filter &filter = filters[static_cast<std::size_t>(n + 1)];
				const std::uint64_t found = n < 0 ? trial.kept : trial.count[n];
				if (found == filter.matches(*sample.event, sample.running) || ++differences > 10)
					continue;
				std::printf("%s: an event of class %u gives %llu\n",
					    n < 0 ? request.filter->c_str()
						  : request.counts[static_cast<std::size_t>(n)].expression.c_str(),
					    sample.id, static_cast<unsigned long long>(found));
			}
		}
	}
	std::printf("%llu events judged in the kernel, %llu kept, %llu differences\n",
		    static_cast<unsigned long long>(judged), static_cast<unsigned long long>(kept),
		    static_cast<unsigned long long>(differences));
	card__destroy(loaded);
	return differences || kept == 0 || kept == judged;
}
