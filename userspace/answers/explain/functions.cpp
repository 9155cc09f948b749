// SPDX-License-Identifier: MIT
#include "functions.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "answers/report/named_stacks.h"

namespace monitor::explain {
namespace {

constexpr std::size_t max_names = 3; // of threads; files are read for each

// `missing`: files that are gone or were replaced.
std::string function_text(const report::LeafFunction &function, const std::vector<std::string> &missing)
{
	const std::string &module = function.name.module;
	if (function.is_named)
		return function.name.function;
	if (module.empty())
		return "code of no file";
	const bool is_missing = std::ranges::any_of(
	    missing, [&](const std::string &path) { return path.substr(path.rfind('/') + 1) == module; });
	return "code of " + module + (is_missing ? ", which is gone or has changed" : " without readable symbols");
}

// The names that threads had, also those of another fold of the same trace.
class NamesOverTime {
public:
	explicit NamesOverTime(const path::Stretches &stretches) : names_(stretches.names())
	{
		for (const path::ThreadStretches &of : stretches.threads())
			threads_.emplace(std::pair(of.thread->tid, of.thread->born), &of);
	}

	std::string at(const analyze::Thread &thread, std::uint64_t time) const
	{
		const auto found = threads_.find({thread.tid, thread.born});
		return found == threads_.end() ? thread.label() : names_[found->second->name_at(time)];
	}

private:
	const path::Names &names_;
	std::map<std::pair<std::int32_t, std::uint64_t>, const path::ThreadStretches *> threads_;
};

} // namespace

std::vector<Functions> functions_of(const Path &path, double min_share, const path::Subject &subject,
				    const path::Stretches &stretches, const analyze::ThreadFold &fold,
				    const analyze::StackFold &stacks, const trace::Trace &trace,
				    const analyze::RecordingInfo &info)
{
	std::vector<Functions> all;
	if (!stacks.any())
		return all;
	std::vector<const PathPart *> users;
	for (const PathPart &part : path.parts)
		if (part.what == What::user && part.share >= min_share)
			users.push_back(&part);
	std::ranges::stable_sort(users, std::greater<>(), &PathPart::share);
	users.resize(std::min(users.size(), max_names));
	report::NamedStacks named(trace.directory(), trace.description().clock, info, fold, stacks, {});
	const NamesOverTime names(stretches);
	for (const PathPart *user : users) {
		const report::LeafFunctions found =
		    named.leaf_functions([&](const analyze::Thread &thread, std::uint64_t time) {
			    return subject.includes(thread) && names.at(thread, time) == user->who;
		    });
		std::map<std::string, std::uint64_t> hits;
		for (const report::LeafFunction &function : found.functions)
			hits[function_text(function, named.symbolizer().missing())] += function.samples;
		Functions &of = all.emplace_back();
		of.who = user->who;
		of.samples = found.in_programs;
		of.hits.assign(hits.begin(), hits.end());
		std::ranges::stable_sort(of.hits, std::greater<>(), &std::pair<std::string, std::uint64_t>::second);
	}
	return all;
}

} // namespace monitor::explain
