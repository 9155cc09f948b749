// SPDX-License-Identifier: MIT
// Rules as a small file: what `monitor check --rules` tests. Documentation/rules.md describes the format.
//
//     rule: every system call returns
//         when: name == "sys_enter"
//         then: name == "sys_exit"
//         key: tid
//         needs: sched_switch
//     every system call returns in time: name == "sys_enter" then name == "sys_exit" within 1s per tid
//
// Read here, compiled for a trace's description by rule.h. The text is untrusted: it is bounded, and every line that
// cannot be parsed is an Error with its number.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace monitor::rules {

struct Word {
	std::string text;
	std::string where; // file and line, for messages
};

// A rule as written.
struct RuleText {
	std::string name;
	std::string where;
	std::map<std::string, Word> words; // "when", "then", "key" ...

	const Word *find(const std::string &word) const
	{
		const auto found = words.find(word);
		return found == words.end() ? nullptr : &found->second;
	}
};

// `name` is for messages. Throws Error.
std::vector<RuleText> parse_rules(const std::string &untrusted_text, const std::string &name);
// The file, or share/rules/NAME.rules. Throws Error naming the available ones.
std::vector<RuleText> load_rules(const std::string &name_or_file);

} // namespace monitor::rules
