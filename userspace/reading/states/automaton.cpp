// SPDX-License-Identifier: MIT
#include "automaton.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"

namespace monitor::states {
namespace {

[[noreturn]] void fail_too_large()
{
	throw Error("--match: this pattern needs too large an automaton ({} places of {} parts are supported): use "
		    "smaller numbers of repetitions",
		    Automaton::max_places, Automaton::max_parts);
}

// The pattern as a graph (Thompson's construction): a part consumes one state, or is an empty transition.
struct Graph {
	struct Part {
		const std::vector<bool> *states = nullptr; // null: it consumes none
		std::vector<std::uint32_t> next;
	};

	explicit Graph(const Pattern &pattern)
	{
		const std::uint32_t end = add(nullptr);
		first = prepend(pattern, end);
		last = end;
	}

	std::uint32_t add(const std::vector<bool> *states)
	{
		if (parts.size() == Automaton::max_parts)
			fail_too_large();
		parts.push_back({states, {}});
		return static_cast<std::uint32_t>(parts.size() - 1);
	}

	// Adds the parts of the pattern ahead of `after`; returns the first one.
	std::uint32_t prepend(const Pattern &pattern, std::uint32_t after)
	{
		std::uint32_t begin = after;
		switch (pattern.kind) {
		case Pattern::Kind::states:
			begin = add(&pattern.states);
			parts[begin].next = {after};
			return begin;
		case Pattern::Kind::sequence:
			for (auto child = pattern.children.rbegin(); child != pattern.children.rend(); ++child)
				begin = prepend(*child, begin);
			return begin;
		case Pattern::Kind::alternatives: {
			std::vector<std::uint32_t> begins;
			for (const Pattern &child : pattern.children)
				begins.push_back(prepend(child, after));
			begin = add(nullptr);
			parts[begin].next = std::move(begins);
			return begin;
		}
		case Pattern::Kind::repetition:
			return prepend_repetition(pattern, after);
		}
		return begin;
	}

	std::uint32_t prepend_repetition(const Pattern &pattern, std::uint32_t after)
	{
		const Pattern &child = pattern.children.front();
		std::uint32_t begin = after;
		if (pattern.max == Pattern::unlimited) {
			begin = add(nullptr);
			const std::uint32_t again = prepend(child, begin);
			parts[begin].next = {again, after};
		}
		for (std::uint32_t i = pattern.min; pattern.max != Pattern::unlimited && i < pattern.max; ++i) {
			const std::uint32_t once = prepend(child, begin);
			begin = add(nullptr);
			parts[begin].next = {once, after};
		}
		for (std::uint32_t i = 0; i < pattern.min; ++i)
			begin = prepend(child, begin);
		return begin;
	}

	std::vector<Part> parts;
	std::uint32_t first = 0, last = 0;
};

using Set = std::vector<std::uint32_t>; // of parts, sorted

// The parts reachable without consuming a state, without empty transitions themselves.
class Closure {
public:
	explicit Closure(const Graph &graph) : graph_(graph), seen_(graph.parts.size()) {}

	Set reachable(Set from)
	{
		Set reached;
		++round_;
		while (!from.empty()) {
			const std::uint32_t part = from.back();
			from.pop_back();
			if (std::exchange(seen_[part], round_) == round_)
				continue;
			if (graph_.parts[part].states || part == graph_.last)
				reached.push_back(part);
			else
				from.insert(from.end(), graph_.parts[part].next.begin(), graph_.parts[part].next.end());
		}
		std::ranges::sort(reached);
		return reached;
	}

private:
	const Graph &graph_;
	std::vector<std::uint64_t> seen_; // the round in which each part was seen
	std::uint64_t round_ = 0;
};

// States that no set of the pattern distinguishes share a column.
std::vector<std::uint16_t> columns_of(const Graph &graph, std::size_t states)
{
	std::vector<std::uint16_t> columns(states);
	for (const Graph::Part &part : graph.parts) {
		if (!part.states)
			continue;
		std::map<std::pair<std::uint16_t, bool>, std::uint16_t> divided;
		for (std::size_t state = 0; state < states; ++state) {
			const std::pair key(columns[state], (*part.states)[state]);
			columns[state] =
			    divided.try_emplace(key, static_cast<std::uint16_t>(divided.size())).first->second;
		}
	}
	return columns;
}

} // namespace

Automaton::Automaton(const Pattern &pattern, const Tree &tree)
{
	const Graph graph(pattern);
	column_of_ = columns_of(graph, tree.count());
	columns_ = *std::ranges::max_element(column_of_) + std::size_t{1};
	std::vector<State> example(columns_); // one state of each column
	for (State state = 0; state < tree.count(); ++state)
		example[column_of_[state]] = state;
	Closure closure(graph);
	std::map<Set, Place> known = {{{}, dead}};
	std::vector<Set> sets = {{}};
	const auto place_of = [&](Set set) {
		const auto [found, is_new] = known.try_emplace(std::move(set), static_cast<Place>(sets.size()));
		if (is_new && sets.size() == max_places)
			fail_too_large();
		if (is_new)
			sets.push_back(found->first);
		return found->second;
	};
	place_of(closure.reachable({graph.first}));
	if (sets.size() == 1) // no text matches
		sets.emplace_back();
	for (std::size_t place = 0; place < sets.size(); ++place) {
		accepts_.push_back(std::ranges::find(sets[place], graph.last) != sets[place].end());
		for (std::size_t column = 0; column < columns_; ++column) {
			Set reached;
			for (const std::uint32_t part : sets[place])
				if (graph.parts[part].states && (*graph.parts[part].states)[example[column]])
					reached.push_back(graph.parts[part].next.front());
			next_.push_back(place_of(closure.reachable(std::move(reached))));
		}
	}
}

} // namespace monitor::states
