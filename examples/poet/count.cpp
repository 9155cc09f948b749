// SPDX-License-Identifier: MIT
// count TRACE: counts the events of each class of a trace, the most frequent first, and what is missing.
// Walked through in Documentation/poet.md.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <poet/poet.hpp>
#include <vector>

int main(int argc, char **argv)
{
	if (argc != 2) {
		std::cerr << "usage: count TRACE\n";
		return 2;
	}
	try {
		const poet::Trace trace(argv[1]);

		std::vector<std::uint64_t> count(trace.classes().size());
		std::uint64_t gaps = 0;
		poet::visit(
		    trace, {}, [&](const poet::Event &event) { ++count[event.class_index()]; },
		    [&](const poet::Gap &) { ++gaps; });

		std::vector<const poet::EventClass *> seen;
		for (const poet::EventClass &cls : trace.classes())
			if (count[cls.index] > 0)
				seen.push_back(&cls);
		std::stable_sort(seen.begin(), seen.end(),
				 [&](auto *a, auto *b) { return count[a->index] > count[b->index]; });
		for (const poet::EventClass *cls : seen)
			std::cout << count[cls->index] << '\t' << cls->name << '\n';

		std::cout << gaps << " gaps, " << trace.problem_count() << " damaged packets\n";
		for (const std::string &problem : trace.problems())
			std::cout << problem << '\n';
	} catch (const poet::Error &error) {
		std::cerr << "count: " << error.what() << '\n';
		return 1;
	}
	return 0;
}
