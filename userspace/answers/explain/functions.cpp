// SPDX-License-Identifier: MIT
#include "functions.h"

#include <algorithm>
#include <functional>
#include <map>

#include "answers/report/named_stacks.h"

namespace monitor::explain {
namespace {

constexpr std::size_t max_names = 3; // of threads; files are read for each

std::string function_text(const report::LeafFunction &function)
{
	if (function.is_named)
		return function.name.function;
	return function.name.module.empty() ? "code of no file"
					    : "code of " + function.name.module + " without readable symbols";
}

} // namespace

std::vector<Functions> functions_of(const Path &path, double least, const path::Subject &subject,
				    const analyze::ThreadFold &fold, const analyze::StackFold &stacks,
				    const trace::Trace &trace, const analyze::RecordingInfo &info)
{
	std::vector<Functions> all;
	if (!stacks.any())
		return all;
	std::vector<const PathPart *> users;
	for (const PathPart &part : path.parts)
		if (part.what == What::user && part.share >= least)
			users.push_back(&part);
	std::ranges::stable_sort(users, std::greater<>(), &PathPart::share);
	users.resize(std::min(users.size(), max_names));
	report::NamedStacks named(trace.directory(), trace.description().clock, info, fold, stacks, {});
	for (const PathPart *user : users) {
		const report::LeafFunctions found = named.leaf_functions([&](const analyze::Thread &thread) {
			return subject.includes(thread) && thread.label() == user->who;
		});
		std::map<std::string, std::uint64_t> hits;
		for (const report::LeafFunction &function : found.functions)
			hits[function_text(function)] += function.samples;
		Functions &of = all.emplace_back();
		of.who = user->who;
		of.samples = found.in_programs;
		of.hits.assign(hits.begin(), hits.end());
		std::ranges::stable_sort(of.hits, std::greater<>(), &std::pair<std::string, std::uint64_t>::second);
	}
	return all;
}

} // namespace monitor::explain
