// SPDX-License-Identifier: MIT
// What rules have in common: when a share is enough for a claim, and sentences of names and shares.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "evidence.h"
#include "finding.h"
#include "thresholds.h"

namespace monitor::explain {

// Shares by name, the largest first.
using Amounts = std::vector<std::pair<std::string, double>>;

std::string percent(double share);
// Of the parts of this kind, by `name` of each.
Amounts amounts(const std::vector<PathPart> &parts, What what,
		const std::function<std::string(const PathPart &)> &name);
Amounts sorted(const std::map<std::string, double> &sums);
double sum(const Amounts &amounts);
// "cc1 12 %, ld 3.0 % and others"
std::string texts(const Amounts &amounts);
nlohmann::ordered_json json_of(const Amounts &amounts);

class Claims {
public:
	Claims(const Evidence &evidence, const Thresholds &thresholds) : evidence_(evidence), thresholds_(thresholds) {}

protected:
	using Json = nlohmann::ordered_json;
	using Command = std::vector<std::string>;

	// "3 events were lost"; evidence_.lost is known.
	std::string lost_events() const;
	// Words after `monitor report DIR`. Both add the options that limit it to what is explained.
	Command report(Command words) const;
	Command command(const std::string &verb, Command words = {}) const;
	bool is_recorded(const std::string &key) const;
	bool claims(double share, double threshold) const { return share - evidence_.unknown >= threshold; }
	void add(const char *key, double share, std::string text, Json evidence, Command command,
		 Confidence confidence = Confidence::high);

	const Evidence &evidence_;
	const Thresholds &thresholds_;
	std::vector<Finding> found_;
};

} // namespace monitor::explain
