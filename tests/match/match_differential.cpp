// SPDX-License-Identifier: MIT
// The matcher in the kernel against the offline filter: a random filter, random counts and a random time on random
// events, judged by the BPF card's own code. Needs root.
//
//   match_differential SEED EXPRESSIONS EVENTS   EVENTS for each expression; exit code 1: a difference, 77: no BPF
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../unit/random_filters.h"
#include "answers/matcher/expression_matcher.h"
#include "card.skel.h"
#include "monitor/matcher_trial.h"
#include "reading/activities/pairs.h"

using namespace monitor;
using samples::RandomFilters;

namespace {

constexpr int counts = EDC_TRIAL_COUNTS; // beside each filter

void *map_memory(const bpf_map *map, std::size_t bytes)
{
	void *memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (memory == MAP_FAILED) {
		std::perror("mmap");
		std::exit(1);
	}
	return memory;
}

void stay_on_this_cpu()
{
	cpu_set_t cpu;
	CPU_ZERO(&cpu);
	CPU_SET(static_cast<unsigned>(::sched_getcpu()), &cpu);
	::sched_setaffinity(0, sizeof cpu, &cpu);
}

NamedTime random_time(RandomFilters &random)
{
	NamedTime time{"time", random.expression(), random.expression(), "", ""};
	static int made = 0;
	if (++made % 4 == 0)
		return time; // of all together
	time.start_key = random.key();
	time.end_key = made % 4 == 1 ? random.key() : time.start_key;
	return time;
}

// Whether what was timed is what the offline pairs are.
bool are_equal(const edc_timed &timed, const activities::Pairs &pairs)
{
	std::uint64_t number = 0, buckets[EDC_TIMED_BUCKETS] = {};
	activities::Distribution found;
	for (const auto &[key, row] : pairs.rows().all())
		found = row.values;
	found.visit([&](std::int64_t first, std::int64_t, std::uint64_t of_bucket) {
		buckets[edc_timed_bucket(static_cast<std::uint64_t>(first))] += of_bucket;
	});
	for (const std::uint64_t of_bucket : timed.bucket)
		number += of_bucket;
	const activities::Pairs::Unpaired unpaired = pairs.unpaired();
	const bool extremes = number == 0 || (~timed.not_shortest == static_cast<std::uint64_t>(found.min()) &&
					      timed.longest == static_cast<std::uint64_t>(found.max()));
	return number == found.count() && timed.sum == static_cast<std::uint64_t>(found.ticks()) && extremes &&
	       std::equal(std::begin(buckets), std::end(buckets), timed.bucket) && timed.ends == unpaired.ends &&
	       timed.replaced == unpaired.restarted &&
	       timed.starts == number + unpaired.restarted + unpaired.open + timed.forgotten && timed.forgotten == 0;
}

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
	    bpf_program__set_autoload(program, program == opened->progs.match_values);
	opened->rodata->matching = opened->rodata->matching_rows = 1;
	opened->rodata->timing = 1;
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
	stay_on_this_cpu();
	const std::size_t area_bytes = bpf_map__value_size(loaded->maps.rings);
	auto *areas = static_cast<std::byte *>(
	    map_memory(loaded->maps.rings, area_bytes * static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_CONF))));
	auto *area = reinterpret_cast<edc_cpu *>(areas + area_bytes * static_cast<std::size_t>(::sched_getcpu()));
	auto *pending = static_cast<edc_pending_starts *>(map_memory(loaded->maps.pending, sizeof(edc_pending_starts)));
	RandomFilters random(static_cast<unsigned>(std::atol(argv[1])));
	random.is_in_order = true;
	std::uint64_t judged = 0, tested = 0, kept = 0, timed = 0, differences = 0;
	for (long i = 0; i < expressions; ++i) {
		MatcherRequest request{random.expression(), {}, {}, true, {}};
		const NamedTime time = random_time(random);
		const bool is_timed = i % 2 == 0; // else there are classes that need no rows
		if (is_timed)
			request.times.push_back(time);
		std::vector<filter::Filter> filters;
		filters.emplace_back(*request.filter, *random.description, RandomFilters::begin_time);
		for (int n = 0; n < (is_timed ? counts : 1); ++n) {
			request.counts.push_back({"count", random.expression()});
			filters.emplace_back(request.counts.back().expression, *random.description,
					     RandomFilters::begin_time);
		}
		std::unique_ptr<EventMatcher> matcher;
		try {
			matcher = matcher::make_matcher(request, *random.description, RandomFilters::begin_time, false);
		} catch (const Error &) {
			continue; // too large for the tables, or no class has the key
		}
		const std::string key =
		    time.start_key == time.end_key ? time.start_key : time.start_key + " = " + time.end_key;
		std::optional<activities::Definition> definition;
		std::optional<activities::Pairs> pairs;
		if (is_timed) {
			definition = activities::compile({time.name, time.start, time.end, "", key, "", false, "time"},
							 *random.description, RandomFilters::begin_time);
			pairs.emplace(*definition);
		}
		area->timed[0] = {};
		*pending = {};
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
			if (bpf_prog_test_run_opts(bpf_program__fd(loaded->progs.match_values), &options) < 0 ||
			    options.retval != 0) {
				std::perror("the program cannot be run");
				return 1;
			}
			++judged;
			tested += loaded->data_matcher->matcher.cls[trial.slot].tests != 0;
			if (pairs)
				pairs->event(*sample.event, sample.running);
			kept += trial.kept;
			for (std::size_t n = 0; n < filters.size(); ++n) {
				const std::uint64_t found = n == 0 ? trial.kept : trial.count[n - 1];
				if (found == filters[n].matches(*sample.event, sample.running) || ++differences > 10)
					continue;
				std::printf("%s: an event of class %u gives %llu\n",
					    n == 0 ? request.filter->c_str() : request.counts[n - 1].expression.c_str(),
					    sample.id, static_cast<unsigned long long>(found));
			}
		}
		if (!pairs)
			continue;
		for (const auto &[of, row] : pairs->rows().all())
			timed += row.values.count();
		if (!are_equal(area->timed[0], *pairs) && ++differences <= 10)
			std::printf("%s .. %s per %s: the times differ\n", time.start.c_str(), time.end.c_str(),
				    key.c_str());
	}
	std::printf(
	    "%llu events judged in the kernel, %llu without rows, %llu kept, %llu pairs timed, %llu differences\n",
	    static_cast<unsigned long long>(judged), static_cast<unsigned long long>(tested),
	    static_cast<unsigned long long>(kept), static_cast<unsigned long long>(timed),
	    static_cast<unsigned long long>(differences));
	card__destroy(loaded);
	return differences || kept == 0 || kept == judged || tested == 0 || timed == 0;
}
