// SPDX-License-Identifier: MIT
#include "classifier.h"

#include <algorithm>

#include "base/error.h"
#include "base/parse_error.h"
#include "base/text.h"

namespace monitor::states {

Classifier::Classifier(const Tree &tree, const trace::Description &description, std::uint64_t begin_time,
		       const filter::KnownNames &known, std::vector<std::string> *doubts)
    : tree_(tree)
{
	for (const Node &node : tree.nodes()) {
		filters_.emplace_back();
		if (node.is_rest())
			continue;
		try {
			filters_.back() = std::make_unique<const filter::Filter>(node.condition, description,
										 begin_time, known, doubts);
		} catch (const ParseError &error) {
			throw Error("{}, line {}: {}", readable(tree.name()), node.line, error.what());
		}
		uses_event_ = uses_event_ || filters_.back()->uses_event();
	}
}

bool Classifier::uses_known(std::string_view name) const
{
	return std::ranges::any_of(filters_, [name](const auto &filter) { return filter && filter->uses_known(name); });
}

bool Classifier::uses_time() const
{
	return std::ranges::any_of(filters_, [](const auto &filter) { return filter && filter->uses_time(); });
}

bool Classifier::derives() const
{
	return std::ranges::any_of(filters_, [](const auto &filter) { return filter && filter->derives(); });
}

} // namespace monitor::states
