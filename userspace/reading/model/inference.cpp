// SPDX-License-Identifier: MIT
#include "inference.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/ranges.h"
#include "body.h"
#include "model_text.h"

namespace monitor::model {
namespace {

constexpr std::size_t latency_parts = 5;
constexpr std::uint64_t max_latency_of_median = 8; // times the median: longer ones are due to other programs
constexpr std::uint64_t usual_latency = 30'000;

// To 3 digits.
std::uint64_t rounded(std::uint64_t ns)
{
	std::uint64_t unit = 1;
	while (ns / unit >= 1000)
		unit *= 10;
	return (ns + unit / 2) / unit * unit;
}

// The means of equal parts of the sorted values: few values with about the same distribution and mean.
std::vector<std::uint64_t> latencies(const std::vector<Recording> &recordings)
{
	std::vector<std::uint64_t> all;
	for (const Recording &recording : recordings)
		all.insert(all.end(), recording.steps.latencies.begin(), recording.steps.latencies.end());
	std::ranges::sort(all);
	if (!all.empty()) {
		const std::uint64_t largest = all[all.size() / 2] * max_latency_of_median;
		all.erase(std::ranges::upper_bound(all, largest), all.end());
	}
	if (all.size() < latency_parts)
		return {usual_latency};
	std::vector<std::uint64_t> means;
	for (std::size_t i = 0; i < latency_parts; ++i) {
		const auto from = all.begin() + static_cast<std::ptrdiff_t>(i * all.size() / latency_parts);
		const auto to = all.begin() + static_cast<std::ptrdiff_t>((i + 1) * all.size() / latency_parts);
		means.push_back(
		    rounded(std::accumulate(from, to, std::uint64_t{0}) / static_cast<std::uint64_t>(to - from)));
	}
	return means;
}

template <class Value> std::uint64_t mean(const std::vector<Recording> &recordings, const Value &value)
{
	return sum_of_all<std::uint64_t>(recordings, value) / recordings.size();
}

// The number of iterations of each thread, or of all that share them; 0 if it differs.
std::uint64_t loop_of(const std::vector<std::vector<Iteration>> &recorded, const RolePlan &role)
{
	std::uint64_t loop = 0;
	for (const std::vector<Iteration> &iterations : recorded) {
		std::vector<std::uint64_t> counts(role.mode == Role::Mode::each ? role.threads : 1, 0);
		for (const Iteration &iteration : iterations)
			++counts[role.mode == Role::Mode::each ? iteration.thread : 0];
		for (const std::uint64_t count : counts) {
			if (loop != 0 && loop != count)
				return 0;
			loop = count;
		}
	}
	return loop;
}

Role role_of(const RolePlan &plan)
{
	Role role;
	role.name = plan.name;
	role.mode = plan.mode;
	role.threads = static_cast<std::uint32_t>(plan.threads);
	role.capacity = plan.capacity;
	role.in_order = plan.in_order;
	return role;
}

// Replaces the items by their ranks if one is max_item or more: keys may be any 64 bits.
void bound_items(SampleSet &set)
{
	std::vector<std::uint64_t> all;
	for (const RoleSamples &role : set.roles)
		all.insert(all.end(), role.items.begin(), role.items.end());
	std::ranges::sort(all);
	if (all.empty() || all.back() < max_item)
		return;
	all.erase(std::unique(all.begin(), all.end()), all.end());
	for (RoleSamples &role : set.roles)
		for (std::uint64_t &item : role.items)
			item = static_cast<std::uint64_t>(std::ranges::lower_bound(all, item) - all.begin());
}

void expect_lasting_threads(const Recording &recording)
{
	for (const RoleThreads &role : recording.roles) {
		std::uint64_t first_end = ~0ull;
		for (const std::uint32_t thread : role.threads)
			if (const std::uint64_t ended = recording.steps.threads[thread].ended)
				first_end = std::min(first_end, ended);
		const auto later =
		    static_cast<std::size_t>(std::ranges::count_if(role.threads, [&](std::uint32_t thread) {
			    return recording.steps.threads[thread].born > first_end;
		    }));
		if (later * 2 > role.threads.size())
			throw Refused(fmt::format("Most threads of role {} ({} of {}) were created after another one "
						  "of them had ended: in a model all are there from the start.",
						  name_text(role.name), later, role.threads.size()));
	}
}

class Inference {
public:
	explicit Inference(std::vector<Recording> recordings)
	    : recordings_(std::move(recordings)), structure_(find_structure(recordings_)),
	      waits_(explain_waits(recordings_, structure_))
	{
	}

	Model infer()
	{
		set_machine();
		model_.sets.resize(recordings_.size());
		for (std::size_t i = 0; i < recordings_.size(); ++i) {
			model_.sets[i].elapsed_ns = recordings_[i].found.elapsed;
			model_.sets[i].roles.resize(structure_.roles.size());
		}
		for (std::size_t i = 0; i < structure_.roles.size(); ++i)
			add_role(i);
		for (SampleSet &set : model_.sets)
			bound_items(set);
		add_reasons();
		return std::move(model_);
	}

private:
	void set_machine()
	{
		for (const Recording &recording : recordings_)
			model_.cpus = std::max(model_.cpus, recording.steps.cpus);
		model_.is_realtime = recordings_.front().steps.is_realtime;
		model_.marks_functions = recordings_.front().steps.marks_functions;
		model_.latency_ns = latencies(recordings_);
		model_.wake_cost_ns =
		    rounded(mean(recordings_, [](const Recording &each) { return each.steps.wake_cost; }));
		model_.fixed_ns = rounded(mean(recordings_, [](const Recording &each) {
			return each.found.elapsed - std::min(each.found.elapsed, each.found.last - each.found.first);
		}));
		const std::uint64_t elapsed =
		    mean(recordings_, [](const Recording &each) { return each.found.elapsed; });
		model_.about = fmt::format("{} recording{}, {:.4g} s", recordings_.size(),
					   recordings_.size() == 1 ? "" : "s", static_cast<double>(elapsed) / 1e9);
	}

	void add_role(std::size_t index)
	{
		const RolePlan &plan = structure_.roles[index];
		std::vector<std::vector<Iteration>> recorded;
		std::vector<const Iteration *> all;
		for (std::size_t i = 0; i < recordings_.size(); ++i)
			recorded.push_back(find_iterations(recordings_[i], i, structure_, waits_, index));
		for (const std::vector<Iteration> &iterations : recorded)
			for (const Iteration &iteration : iterations)
				all.push_back(&iteration);
		Body body = make_body(all, waits_, plan);
		Role made = role_of(plan);
		made.loop = plan.mode == Role::Mode::pool ? 1 : loop_of(recorded, plan);
		made.body = std::move(body.block);
		add_samples(index, recorded, made, body.columns);
		number_columns(made);
		model_.roles.push_back(std::move(made));
	}

	// Sorts the columns in the order of the body, and divides them among the recordings.
	void add_samples(std::size_t index, const std::vector<std::vector<Iteration>> &recorded, const Role &role,
			 const std::vector<std::vector<std::uint64_t>> &columns)
	{
		std::size_t row = 0;
		for (std::size_t i = 0; i < recorded.size(); ++i) {
			RoleSamples &made = model_.sets[i].roles[index];
			for (const Iteration &iteration : recorded[i]) {
				made.threads.push_back(iteration.thread);
				made.items.push_back(iteration.item);
			}
			for_each_operation(role.body, [&](const Operation &operation) {
				if (!operation.has_samples())
					return;
				const auto begin = columns[operation.column].begin() + static_cast<std::ptrdiff_t>(row);
				made.columns.emplace_back(begin,
							  begin + static_cast<std::ptrdiff_t>(recorded[i].size()));
			});
			row += recorded[i].size();
		}
	}

	void add_reasons()
	{
		model_.because = structure_.because;
		model_.because.push_back(waits_.because);
		const Recording &first = recordings_.front();
		if (!first.found.elapsed_of.empty())
			model_.because.push_back("the time is that of " + name_text(first.found.elapsed_of));
		if (!first.steps.why_no_cost.empty())
			model_.because.push_back("CPU times have what the probes cost in them: " +
						 first.steps.why_no_cost);
	}

	std::vector<Recording> recordings_;
	const Structure structure_;
	const Waits waits_;
	Model model_;
};

} // namespace

Recording read_recording(const std::string &directory, const std::vector<std::string> &comms)
{
	trace::Trace trace = trace::Trace::open(directory);
	Recording recording;
	recording.steps = collect_steps(trace, comms);
	recording.found = find_instances(recording.steps);
	recording.roles = find_roles(recording.steps, recording.found.instances);
	if (recording.roles.empty())
		throw Refused(
		    "No activity or wake-up says what these threads wait for: mark what they do with EDC_ACTIVITY "
		    "of monitor/edc.h, or record with --functions.");
	return recording;
}

Model infer_model(std::vector<Recording> recordings)
{
	std::ranges::for_each(recordings, expect_lasting_threads);
	return Inference(std::move(recordings)).infer();
}

} // namespace monitor::model
