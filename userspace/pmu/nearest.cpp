// SPDX-License-Identifier: MIT
// What a mistyped name may have meant. Called for the sentence of an error only.
#include <algorithm>
#include <cctype>
#include <numeric>

#include "events.h"

namespace monitor::pmu {
namespace {

std::string lower(std::string text)
{
	for (char &c : text)
		c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
	return text;
}

// How many characters have to be changed, put in or left out.
std::size_t distance(const std::string &a, const std::string &b)
{
	std::vector<std::size_t> row(b.size() + 1);
	std::iota(row.begin(), row.end(), std::size_t{0});
	for (std::size_t i = 1; i <= a.size(); ++i) {
		std::size_t diagonal = row[0]++;
		for (std::size_t j = 1; j <= b.size(); ++j) {
			const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
			diagonal = row[j];
			row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
		}
	}
	return row.back();
}

} // namespace

std::string nearest(const std::string &name, const std::vector<std::string> &known)
{
	const std::string wanted = lower(name);
	std::vector<std::pair<std::size_t, std::string>> near;
	for (const std::string &candidate : known) {
		const std::string lowered = lower(candidate);
		std::size_t how_far = distance(wanted, lowered);
		if (wanted.size() > 2 && lowered.find(wanted) != std::string::npos)
			how_far = std::min<std::size_t>(how_far, 1);
		if (how_far <= std::max<std::size_t>(1, wanted.size() / 3))
			near.emplace_back(how_far, candidate);
	}
	std::stable_sort(near.begin(), near.end(), [](auto &a, auto &b) { return a.first < b.first; });
	std::string sentence;
	for (std::size_t i = 0; i < near.size() && i < 3; ++i)
		sentence += (i ? ", " : " Near: ") + near[i].second;
	return sentence.empty() ? "" : sentence + ".";
}

} // namespace monitor::pmu
