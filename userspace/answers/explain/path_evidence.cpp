// SPDX-License-Identifier: MIT
#include "path_evidence.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "answers/path/texts.h"
#include "path_part.h"

namespace monitor::explain {
namespace {

using path::Doing;
using path::End;
using path::Kind;

bool is_own_code(What what)
{
	return what == What::user || what == What::call || what == What::kernel || what == What::fault;
}

// More pairs of links and threads are not compared.
constexpr std::uint64_t max_comparisons = 20'000'000;

} // namespace

// The parts of each thread, and those of all threads of a name together. Of what no token says whether it was in the
// kernel, as much is known to be on the way into and out of calls and faults as was calibrated.
void PathReader::add_threads(Path &path, const path::Parts &parts, const std::vector<Use> &users) const
{
	struct Sums {
		std::uint64_t all = 0, ran = 0, unattributed = 0;
		std::vector<PathPart> parts;
	};
	std::map<std::uint32_t, Sums> threads;
	std::map<std::tuple<What, std::string, std::string>, double> sums;
	for (const auto &[part, ticks] : parts.ticks()) {
		PathPart made = path_part(part, stretches_, fold_.kinds());
		made.share = share(ticks);
		sums[{made.what, made.who, made.detail}] += made.share;
		Sums &thread = threads[part.who];
		thread.all += ticks;
		thread.unattributed += part.doing == Doing::unattributed ? ticks : 0;
		if (is_own_code(made.what)) {
			thread.ran += ticks;
			thread.parts.push_back(std::move(made));
		}
	}
	for (const auto &[place, thread] : threads) {
		const auto use = std::ranges::find(users, stretches_.threads()[place].thread->tgid, &Use::tgid);
		const double of_edges = use == users.end() ? 0 : use->edges * share(thread.ran + thread.unattributed);
		const double edges = std::min(of_edges, share(thread.unattributed));
		sums[{What::edges, name_of(place), ""}] += edges;
		sums[{What::unknown, name_of(place),
		      path::what_text({.doing = Doing::unattributed}, fold_.kinds(), stretches_.names())}] -= edges;
	}
	for (const auto &[named, sum] : sums)
		path.parts.push_back({std::get<0>(named), std::get<1>(named), std::get<2>(named), sum});
	for (auto &[place, thread] : threads) {
		const path::ThreadStretches &of = stretches_.threads()[place];
		path.threads.push_back({path::thread_text(of, ~0ull, stretches_.names()),
					fold_.leader(*of.thread).label(), of.thread->tgid, name_of(place),
					share(thread.ran), share(thread.all), std::move(thread.parts)});
	}
	std::ranges::stable_sort(path.threads, std::greater<>(), &PathThread::share);
}

// Of a sleep it is the reason, whatever ended that.
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
		PathPart was = path_part(parts.part_of(link, end), stretches_, fold_.kinds());
		for (PathPart &part : path.parts)
			if (part.what == was.what && part.who == was.who && part.detail == was.detail)
				part.share -= share(ticks);
		path.parts.push_back({What::memory_reclaim, was.who, was.detail, share(ticks)});
	}
}

bool PathReader::is_futex(const path::Stretch &stretch) const
{
	if (stretch.kind != Kind::blocked || stretch.end != End::thread || stretch.where == EDC_NO_SYSCALL)
		return false;
	const std::string *name =
	    stretch.where < path::unknown_call ? fold_.kinds().syscall_name(stretch.where) : nullptr;
	return name && *name == "futex";
}

// How many threads of a process sleep until another one of it ends that, on average. A sleep of most of the time is a
// join, not a turn.
double PathReader::sleepers_in_futex(std::int32_t tgid) const
{
	std::uint64_t slept = 0;
	for (const path::ThreadStretches &of : stretches_.threads()) {
		if (of.thread->tgid != tgid)
			continue;
		for (std::size_t i = 0; i < of.stretches.size(); ++i) {
			const path::Stretch &stretch = of.stretches[i];
			const std::uint64_t ends = i + 1 < of.stretches.size() ? of.stretches[i + 1].begin : of.end;
			const std::uint64_t from = std::max(stretch.begin, begin()), to = std::min(ends, end());
			if (from < to && to - from < (end() - begin()) / 2 && is_futex(stretch) &&
			    stretches_.threads()[stretch.cause].thread->tgid == tgid)
				slept += to - from;
		}
	}
	return share(slept);
}

// Where a link follows one of another thread, that one ended the sleep before it.
void PathReader::add_handovers(Path &path) const
{
	const auto &links = paths_.links();
	std::map<std::int32_t, std::uint64_t> by_process;
	for (std::size_t i = 0; i + 1 < links.size(); ++i) {
		const path::Link &from = links[i], &to = links[i + 1];
		if (from.thread == to.thread || to.thread == path::nobody)
			continue;
		const path::ThreadStretches &of = stretches_.threads()[to.thread];
		const path::Stretch *slept = of.before(to.begin).stretch;
		if (!slept || slept->kind != Kind::blocked || slept->end != End::thread || slept->cause != from.thread)
			continue;
		++path.wake_ups;
		if (is_futex(*slept))
			++by_process[of.thread->tgid];
	}
	const auto most = std::ranges::max_element(by_process, {}, [](const auto &each) { return each.second; });
	if (most == by_process.end())
		return;
	path.futex_handovers =
	    static_cast<double>(most->second) * 1e9 / static_cast<double>(clock_.to_ns(paths_.total()));
	path.futex_sleepers = sleepers_in_futex(most->first);
}

// Of threads of the command, without the one that ran most.
double PathReader::others_ran() const
{
	std::uint64_t all = 0, most = 0;
	for (std::uint32_t place = 0; place < stretches_.threads().size(); ++place) {
		const path::ThreadStretches &of = stretches_.threads()[place];
		std::uint64_t ran = 0;
		for (std::size_t i = 0; is_inside_(place) && i < of.stretches.size(); ++i) {
			const std::uint64_t ends = i + 1 < of.stretches.size() ? of.stretches[i + 1].begin : of.end;
			const std::uint64_t from = std::max(of.stretches[i].begin, begin()), to = std::min(ends, end());
			ran += of.stretches[i].kind == Kind::running && from < to ? to - from : 0;
		}
		all += ran;
		most = std::max(most, ran);
	}
	return share(all - most);
}

// A thread of a higher priority than `above` that sleeps at this time, until `thread` ends that.
std::uint32_t PathReader::sleeper_until(std::uint32_t thread, std::uint64_t time, std::int32_t above,
					const Priorities &priorities) const
{
	for (std::uint32_t place = 0; place < stretches_.threads().size(); ++place) {
		if (place == thread || !is_inside_(place))
			continue;
		const path::ThreadStretches &of = stretches_.threads()[place];
		const auto found = of.before(time);
		if (found.stretch && found.end >= time && found.stretch->kind == Kind::blocked &&
		    found.stretch->end == End::thread && found.stretch->cause == thread &&
		    priorities.at(*of.thread, time).value_or(above) < above)
			return place;
	}
	return path::nobody;
}

// While a thread of the path is ready: who had its CPU, and who of a higher priority than that slept until it.
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
		for (std::uint32_t place = 0; own && place < threads; ++place) {
			const path::ThreadStretches &of = stretches_.threads()[place];
			const auto other = priorities.at(*of.thread, ends);
			if (!other || *other >= *own)
				continue;
			std::uint64_t ran = 0;
			for (auto found = of.before(ends); found.stretch && found.end > link.begin;
			     found = of.before(found.stretch->begin))
				if (found.stretch->kind == Kind::running && found.stretch->where == link.stretch->where)
					ran += std::min(found.end, ends) - std::max(found.stretch->begin, link.begin);
			const std::uint32_t sleeper =
			    ran ? sleeper_until(link.thread, ends, *other, priorities) : path::nobody;
			if (sleeper != path::nobody)
				path.inversions.push_back(
				    {name_of(sleeper), name_of(link.thread), name_of(place), share(ran)});
		}
	}
}

Path PathReader::read(const path::Parts &parts, const Priorities &priorities, const Reclaim &reclaim,
		      const std::vector<Use> &users, double &unknown) const
{
	Path path;
	add_threads(path, parts, users);
	if (reclaim.is_recorded())
		add_reclaim(path, parts, reclaim);
	for (const PathPart &part : path.parts)
		unknown += part.what == What::unknown ? part.share : 0;
	add_handovers(path);
	add_inversions(path, priorities);
	path.others_ran = others_ran();
	return path;
}

} // namespace monitor::explain
