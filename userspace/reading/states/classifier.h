// SPDX-License-Identifier: MIT
// A tree of states, its conditions compiled for a trace: finds the state that an event, and what is known then, puts
// its subject into.
//
// Made and called by Evaluator (evaluator.h), once per event and subject. Allocates nothing per event.
// Invariant: a state of the tree is only found if no condition on the way needed a value that is unknown.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reading/ctf/description.h"
#include "reading/events/event.h"
#include "reading/filter/filter.h"
#include "tree.h"

namespace monitor::states {

class Classifier {
public:
	// Throws Error naming the line of the tree. The tree and the description must outlive it. With `doubts` names
	// that the description lacks may come later: sentences about them are added.
	Classifier(const Tree &tree, const trace::Description &description, std::uint64_t begin_time,
		   const filter::KnownNames &known, std::vector<std::string> *doubts = nullptr);

	// Whether a condition uses the event: then the state ends with the next event. Else what is known decides.
	bool uses_event() const { return uses_event_; }
	bool uses_known(std::string_view name) const;
	bool uses_time() const;
	// Whether a condition asks what earlier events say of one that lacks it.
	bool derives() const;

	// `running` has what is known.
	State classify(const trace::Event &event, const filter::Running &running) const
	{
		filter::Knowledge &knowledge = *running.knowledge;
		knowledge.take_asked_unknown();
		const std::vector<std::uint32_t> *level = &tree_.roots();
		for (std::size_t i = 0;;) {
			const std::uint32_t node = (*level)[i];
			const filter::Filter *filter = filters_[node].get();
			const std::optional<bool> matches = filter ? filter->decide(event, running) : true;
			if (knowledge.take_asked_unknown() || !matches)
				return tree_.unknown();
			if (!*matches) {
				++i;
			} else if (tree_.nodes()[node].is_leaf()) {
				return tree_.nodes()[node].state;
			} else {
				level = &tree_.nodes()[node].children;
				i = 0;
			}
		}
	}

private:
	const Tree &tree_;
	std::vector<std::unique_ptr<const filter::Filter>> filters_; // by node; null: REST
	bool uses_event_ = false;
};

} // namespace monitor::states
