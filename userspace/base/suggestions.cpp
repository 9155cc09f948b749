// SPDX-License-Identifier: MIT
#include "suggestions.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace monitor {
namespace {

std::string lower(std::string text)
{
	for (char &c : text)
		c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
	return text;
}

// Edit distance: the number of characters to change, insert, delete, or swap with their neighbour.
std::size_t distance(const std::string &a, const std::string &b)
{
	std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
	std::iota(row.begin(), row.end(), std::size_t{0});
	for (std::size_t i = 1; i <= a.size(); ++i) {
		before.swap(above);
		above.swap(row);
		row[0] = i;
		for (std::size_t j = 1; j <= b.size(); ++j) {
			row[j] = std::min({above[j - 1] + (a[i - 1] != b[j - 1]), above[j] + 1, row[j - 1] + 1});
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = std::min(row[j], before[j - 2] + 1);
		}
	}
	return row.back();
}

// A name that contains the wanted one counts as one change.
std::size_t changes_to(const std::string &wanted, const std::string &name)
{
	const std::size_t changes = distance(wanted, name);
	const bool contains = wanted.size() > 2 && name.find(wanted) != std::string::npos;
	return contains ? std::min<std::size_t>(changes, 1) : changes;
}

} // namespace

std::string suggestions(const std::string &name, const std::vector<std::string> &known)
{
	constexpr std::size_t max_bytes = 200; // longer than any name that somebody mistypes
	if (name.size() > max_bytes)
		return "";
	const std::string wanted = lower(name);
	std::vector<std::pair<std::size_t, std::string>> near;
	for (const std::string &candidate : known) {
		if (candidate == name) // the name itself is no suggestion
			continue;
		const std::size_t changes = changes_to(wanted, lower(candidate));
		if (changes <= std::max<std::size_t>(1, wanted.size() / 3))
			near.emplace_back(changes, candidate);
	}
	std::stable_sort(near.begin(), near.end(), [](auto &a, auto &b) { return a.first < b.first; });
	std::string sentence;
	for (std::size_t i = 0; i < near.size() && i < 3; ++i)
		sentence += (i ? ", " : " Did you mean ") + near[i].second;
	return sentence.empty() ? "" : sentence + "?";
}

} // namespace monitor
