// SPDX-License-Identifier: MIT
#include "path_evidence.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "answers/path/ended_by.h"
#include "claims.h"
#include "path_part.h"

namespace monitor::explain {
namespace {

using path::End;
using path::Kind;
using path::PartKind;

bool is_own_code(What what)
{
	return what == What::user || what == What::call || what == What::kernel || what == What::fault;
}

constexpr std::initializer_list<const char *> calls_of_file_locks = {"flock", "fcntl", "fcntl64"};

bool is_named(std::uint32_t call, const analyze::EventKinds &kinds, std::initializer_list<const char *> names)
{
	const bool is_call = call != EDC_NO_SYSCALL && call < path::unknown_call;
	const std::string *name = is_call ? kinds.syscall_name(call) : nullptr;
	return name && std::ranges::count(names, *name) > 0;
}

// A thread is ready because it was woken or created, not because it lost its CPU or changed the queue.
bool is_woken(const path::Link &before, const path::Link &link)
{
	return link.stretch && link.stretch->kind == Kind::ready &&
	       (before.thread != link.thread || (before.stretch && before.stretch->kind == Kind::blocked));
}

// How long a thread had this CPU.
std::uint64_t ran_on(const path::ThreadStretches &of, std::uint32_t cpu, trace::TimeRange range)
{
	std::uint64_t ran = 0;
	for (auto found = of.before(range.to); found.stretch && found.end > range.from;
	     found = of.before(found.stretch->begin))
		if (found.stretch->kind == Kind::running && found.stretch->where == cpu)
			ran += std::min(found.end, range.to) - std::max(found.stretch->begin, range.from);
	return ran;
}

// Processes that hand the path over to each other.
struct FutexGroup {
	std::set<std::int32_t> processes;
	std::uint64_t handovers = 0;
};

FutexGroup largest_group(const std::map<std::pair<std::int32_t, std::int32_t>, std::uint64_t> &between)
{
	std::vector<FutexGroup> groups;
	for (const auto &[pair, handovers] : between) {
		FutexGroup joined{{pair.first, pair.second}, handovers};
		for (std::size_t i = groups.size(); i-- > 0;)
			if (groups[i].processes.contains(pair.first) || groups[i].processes.contains(pair.second)) {
				joined.handovers += groups[i].handovers;
				joined.processes.merge(groups[i].processes);
				groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(i));
			}
		groups.push_back(std::move(joined));
	}
	const auto most = std::ranges::max_element(groups, {}, &FutexGroup::handovers);
	return most == groups.end() ? FutexGroup() : *most;
}

// More pairs of links and threads are not compared.
constexpr std::uint64_t max_comparisons = 20'000'000;

} // namespace

// Within a sleep for another process: what ran there, or slept until a timer, is waiting for that process. Its waits
// for a CPU or a device keep their names.
PathPart PathReader::part_of(const path::Part &part) const
{
	PathPart made = path_part(part, stretches_, fold_.kinds());
	if (part.sleep == 0 || (!is_own_code(made.what) && made.what != What::timer))
		return made;
	std::uint32_t first = part.who;
	const path::Sleep *sleep = &paths_.sleeps()[part.sleep];
	for (; sleep->outer != 0; sleep = &paths_.sleeps()[sleep->outer])
		first = sleep->thread;
	const analyze::Thread &other = *stretches_.threads()[first].thread;
	if (other.is_kernel || is_inside_(first))
		return made;
	made.what = is_named(sleep->call, fold_.kinds(), calls_of_file_locks) ? What::file_lock : What::other_process;
	made.who = stretches_.names()[sleep->name];
	made.detail = path::call_text(sleep->call, fold_.kinds()) + " for " + fold_.leader(other).label() + "-" +
		      std::to_string(other.tgid);
	made.process = other.tgid;
	return made;
}

// The parts by thread, and by name. Of unattributed time as much is What::edges as the calibrated way into and out of
// the process's calls and faults explains; the rest stays unknown.
void PathReader::add_threads(Path &path, const path::Parts &parts, const std::vector<Use> &users) const
{
	struct Sums {
		std::uint64_t all = 0, ran = 0, unattributed = 0;
		std::map<std::uint32_t, std::uint64_t> unattributed_by_name;
		std::vector<PathPart> parts;
	};
	std::map<std::uint32_t, Sums> threads;
	std::map<std::tuple<What, std::string, std::string>, PathPart> sums;
	for (const auto &[part, ticks] : parts.ticks()) {
		PathPart made = part_of(part);
		made.share = share(ticks);
		PathPart &sum = sums[{made.what, made.who, made.detail}];
		sum.process = made.process;
		sum.share += made.share;
		Sums &thread = threads[part.who];
		thread.all += ticks;
		if (part.kind == PartKind::unattributed) {
			thread.unattributed += ticks;
			thread.unattributed_by_name[part.name] += ticks;
		}
		if (is_own_code(made.what)) {
			thread.ran += ticks;
			thread.parts.push_back(std::move(made));
		}
	}
	const std::string unattributed =
	    path::what_text({.kind = PartKind::unattributed}, fold_.kinds(), stretches_.names());
	for (const auto &[index, thread] : threads) {
		const auto use = std::ranges::find(users, stretches_.threads()[index].thread->tgid, &Use::tgid);
		const double of_edges = use == users.end() ? 0 : use->edges * share(thread.ran + thread.unattributed);
		for (const auto &[name, ticks] : thread.unattributed_by_name) {
			const double part = static_cast<double>(ticks) / static_cast<double>(thread.unattributed);
			const double edges = std::min(of_edges, share(thread.unattributed)) * part;
			const std::string &who = stretches_.names()[name];
			sums[{What::edges, who, ""}].share += edges;
			sums[{What::unknown, who, unattributed}].share -= edges;
		}
	}
	for (auto &[named, sum] : sums) {
		std::tie(sum.what, sum.who, sum.detail) = named;
		path.parts.push_back(std::move(sum));
	}
	for (auto &[index, thread] : threads) {
		const path::ThreadStretches &of = stretches_.threads()[index];
		path.threads.push_back({label_of(index), fold_.leader(*of.thread).label(), of.thread->tgid,
					name_of(index), share(thread.ran), share(thread.all), std::move(thread.parts)});
	}
	std::ranges::stable_sort(path.threads, std::greater<>(), &PathThread::share);
}

// Sleep in reclaim is due to that, whatever ended it.
void PathReader::add_reclaim(Path &path, const path::Parts &parts, const Reclaim &reclaim) const
{
	const auto &links = paths_.links();
	for (std::size_t i = 0; i + 1 < links.size(); ++i) {
		const path::Link &link = links[i];
		if (!link.stretch || link.stretch->kind != Kind::blocked)
			continue;
		const std::uint64_t end = links[i + 1].begin;
		const std::uint64_t ticks = reclaim.within(*stretches_.threads()[link.thread].thread, link.begin, end);
		if (ticks == 0)
			continue;
		const PathPart was = part_of(parts.part_of(link, end));
		for (PathPart &part : path.parts)
			if (part.what == was.what && part.who == was.who && part.detail == was.detail)
				part.share -= share(ticks);
		path.parts.push_back({What::memory_reclaim, was.who, was.detail, share(ticks)});
	}
}

// The sleep of the thread `to` that the thread of `from` ended; null: none.
const path::Stretch *PathReader::handed_over(const path::Link &from, const path::Link &to) const
{
	if (from.thread == to.thread || to.thread == path::nobody)
		return nullptr;
	const path::Stretch *slept = stretches_.threads()[to.thread].before(to.begin).stretch;
	const bool was_woken =
	    slept && slept->kind == Kind::blocked && slept->end == End::thread && slept->cause == from.thread;
	return was_woken ? slept : nullptr;
}

// A sleep in a futex until a thread of these processes ended it or, if its thread takes turns, until a timeout after
// which it tries again.
bool PathReader::is_turn(const path::Stretch &stretch, const std::set<std::int32_t> &processes, bool takes_turns) const
{
	if (stretch.kind != Kind::blocked || !is_named(stretch.where, fold_.kinds(), {"futex"}))
		return false;
	path::Part part{.cause = stretch.cause, .end = stretch.end, .kind = PartKind::asleep};
	return stretch.end == End::thread ? processes.contains(process_of(stretch.cause))
					  : takes_turns && stretch.end == End::interrupt &&
						path::ended_by(part, fold_.kinds()) == path::EndedBy::timer;
}

// How many threads of these processes sleep until their turn, on average. A sleep of half the time is a join.
double PathReader::sleepers_in_futex(const std::set<std::int32_t> &processes, double min_share) const
{
	std::map<std::uint32_t, std::uint64_t> on_path;
	for (std::size_t i = 0; i + 1 < paths_.links().size(); ++i)
		on_path[paths_.links()[i].thread] += paths_.end_of(i) - paths_.links()[i].begin;
	std::uint64_t slept = 0;
	for (std::uint32_t index = 0; index < stretches_.threads().size(); ++index) {
		const path::ThreadStretches &of = stretches_.threads()[index];
		if (!processes.contains(of.thread->tgid))
			continue;
		const bool takes_turns = on_path.contains(index) && share(on_path[index]) >= min_share;
		for (std::size_t i = 0; i < of.stretches.size(); ++i) {
			const path::Stretch &stretch = of.stretches[i];
			const std::uint64_t ends = i + 1 < of.stretches.size() ? of.stretches[i + 1].begin : of.end;
			const std::uint64_t from = std::max(stretch.begin, begin()), to = std::min(ends, end());
			if (from < to && to - from < (end() - begin()) / 2 && is_turn(stretch, processes, takes_turns))
				slept += to - from;
		}
	}
	return share(slept);
}

void PathReader::add_handovers(Path &path, double min_share) const
{
	const auto &links = paths_.links();
	std::map<std::pair<std::int32_t, std::int32_t>, std::uint64_t> between; // processes
	for (std::size_t i = 0; i + 1 < links.size(); ++i) {
		const path::Stretch *slept = handed_over(links[i], links[i + 1]);
		path.wake_ups += is_woken(links[i], links[i + 1]);
		if (!slept || !is_named(slept->where, fold_.kinds(), {"futex"}))
			continue;
		const bool are_inside = is_inside_(links[i].thread) && is_inside_(links[i + 1].thread);
		const std::int32_t to = process_of(links[i + 1].thread);
		++between[{are_inside ? process_of(links[i].thread) : to, to}];
	}
	const FutexGroup most = largest_group(between);
	if (most.handovers == 0)
		return;
	path.futex_processes = most.processes;
	path.futex_handovers = static_cast<double>(most.handovers) * 1e9 /
			       static_cast<double>(std::max<std::uint64_t>(clock_.to_ns(paths_.total()), 1));
	path.futex_sleepers = sleepers_in_futex(most.processes, min_share);
}

// Time in at least one of the sleeps at whose end the path is handed over; what several have is of the one that began
// first.
void PathReader::add_file_locks(Path &path) const
{
	const auto &links = paths_.links();
	std::vector<std::pair<trace::TimeRange, std::string>> sleeps;
	for (std::size_t i = 0; i + 1 < links.size(); ++i) {
		const path::Stretch *slept = handed_over(links[i], links[i + 1]);
		if (!slept || !is_named(slept->where, fold_.kinds(), calls_of_file_locks))
			continue;
		const path::ThreadStretches &sleeper = stretches_.threads()[links[i + 1].thread];
		const std::string who =
		    fmt::format("{} in {} for {}", stretches_.names()[sleeper.name_at(slept->begin)],
				path::call_text(slept->where, fold_.kinds()), label_of(links[i].thread));
		sleeps.push_back({{std::max(slept->begin, begin()), links[i + 1].begin}, who});
	}
	std::ranges::sort(sleeps, {}, [](const auto &sleep) { return sleep.first.from; });
	std::map<std::string, double> shares;
	std::uint64_t until = 0;
	for (const auto &[range, who] : sleeps) {
		shares[who] += share(std::max(range.to, until) - std::max(range.from, until));
		until = std::max(until, range.to);
	}
	path.file_locks = sorted(shares);
}

// Of threads of the command, without the one that ran most.
double PathReader::others_ran() const
{
	std::uint64_t all = 0, most = 0;
	for (std::uint32_t index = 0; index < stretches_.threads().size(); ++index) {
		const path::ThreadStretches &of = stretches_.threads()[index];
		std::uint64_t ran = 0;
		for (std::size_t i = 0; is_inside_(index) && i < of.stretches.size(); ++i) {
			const std::uint64_t ends = i + 1 < of.stretches.size() ? of.stretches[i + 1].begin : of.end;
			const std::uint64_t from = std::max(of.stretches[i].begin, begin()), to = std::min(ends, end());
			ran += of.stretches[i].kind == Kind::running && from < to ? to - from : 0;
		}
		all += ran;
		most = std::max(most, ran);
	}
	return share(all - most);
}

// A thread of a higher priority than `above` that sleeps at this time until `thread` wakes it.
std::uint32_t PathReader::sleeper_until(std::uint32_t thread, std::uint64_t time, std::int32_t above,
					const Priorities &priorities) const
{
	for (std::uint32_t index = 0; index < stretches_.threads().size(); ++index) {
		if (index == thread || !is_inside_(index))
			continue;
		const path::ThreadStretches &of = stretches_.threads()[index];
		const auto found = of.before(time);
		if (found.stretch && found.end >= time && found.stretch->kind == Kind::blocked &&
		    found.stretch->end == End::thread && found.stretch->cause == thread &&
		    priorities.at(*of.thread, time).value_or(above) < above)
			return index;
	}
	return path::nobody;
}

// While a thread of the path was ready: one of a higher priority had its CPU, and one of a still higher priority slept
// until the first woke it.
void PathReader::add_inversions(Path &path, const Priorities &priorities) const
{
	const auto &links = paths_.links();
	const std::uint64_t threads = stretches_.threads().size();
	std::uint64_t compared = 0;
	for (std::size_t i = 0; i + 1 < links.size() && !priorities.are_equal() && compared < max_comparisons; ++i) {
		const path::Link &link = links[i];
		if (!link.stretch || link.stretch->kind != Kind::ready)
			continue;
		compared += threads;
		const std::uint64_t ends = links[i + 1].begin;
		const auto own = priorities.at(*stretches_.threads()[link.thread].thread, link.begin);
		for (std::uint32_t index = 0; own && index < threads; ++index) {
			const path::ThreadStretches &of = stretches_.threads()[index];
			const auto other = priorities.at(*of.thread, ends);
			if (!other || *other >= *own)
				continue;
			const std::uint32_t sleeper = ran_on(of, link.stretch->where, {link.begin, ends})
							  ? sleeper_until(link.thread, ends, *other, priorities)
							  : path::nobody;
			if (sleeper == path::nobody)
				continue;
			const std::uint64_t slept = stretches_.threads()[sleeper].before(ends).stretch->begin;
			const std::uint64_t ran = ran_on(of, link.stretch->where, {std::max(link.begin, slept), ends});
			path.inversions.push_back({name_of(sleeper), name_of(link.thread), name_of(index), share(ran)});
		}
	}
}

Path PathReader::read(const path::Parts &parts, const Priorities &priorities, const Reclaim &reclaim,
		      const std::vector<Use> &users, double min_share, double &unknown) const
{
	Path path;
	add_threads(path, parts, users);
	if (reclaim.is_recorded())
		add_reclaim(path, parts, reclaim);
	for (const PathPart &part : path.parts)
		unknown += part.what == What::unknown ? part.share : 0;
	add_handovers(path, min_share);
	add_file_locks(path);
	add_inversions(path, priorities);
	path.others_ran = others_ran();
	return path;
}

} // namespace monitor::explain
