// SPDX-License-Identifier: MIT
// A tree of states with its conditions compiled for a trace: finds the state of a subject from an event and from what
// is known then.
// Runs once per event and subject; allocates nothing per event. Invariant: a state is only found if no condition on the
// way needed an unknown value.
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
	// Throws Error naming the line of the tree. The tree and the description must outlive it. With `doubts`, names
	// that the description lacks may come later; warnings are added.
	Classifier(const Tree &tree, const trace::Description &description, std::uint64_t begin_time,
		   const filter::KnownNames &known, std::vector<std::string> *doubts = nullptr);

	// Whether a condition uses the event: then a state ends with the next event.
	bool uses_event() const { return uses_event_; }
	bool uses_known(std::string_view name) const;
	bool uses_time() const;
	// Whether a condition uses values derived from earlier events.
	bool derives() const;

	// `running` has the values that are known.
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
