// SPDX-License-Identifier: MIT
// What bench `endtoend` compiles, four times with another SEED: templates of the standard library for types of its own.
// Never run. A change here makes new figures incomparable with old ones.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#ifndef SEED
#define SEED 0
#endif

namespace {

template <int N> struct Point {
	int x = N, y = SEED;
	std::string name = std::to_string(N);
	auto operator<=>(const Point &) const = default;
};

template <int N> struct Hash {
	std::size_t operator()(const Point<N> &point) const { return std::hash<std::string>()(point.name); }
};

template <int N> std::size_t containers(int count)
{
	std::map<Point<N>, std::vector<std::shared_ptr<Point<N>>>> sorted;
	std::unordered_map<Point<N>, std::optional<std::function<int(Point<N>)>>, Hash<N>> hashed;
	for (int i = 0; i < count; ++i) {
		sorted[{i, N}].push_back(std::make_shared<Point<N>>());
		hashed.emplace(Point<N>{i, SEED}, [i](const Point<N> &point) { return point.x + i; });
	}
	return sorted.size() + hashed.size();
}

template <int N> long pipeline(std::vector<Point<N>> points)
{
	std::ranges::stable_sort(points, std::greater{}, &Point<N>::name);
	long sum = 0;
	for (const auto &name : points | std::views::filter([](const auto &point) { return point.x > N; }) |
				    std::views::transform(&Point<N>::name) | std::views::reverse | std::views::take(9))
		sum += static_cast<long>(name.size());
	return sum;
}

template <int... N> double visited(const std::variant<Point<N>...> &left, const std::variant<Point<N>...> &right)
{
	return std::visit([](const auto &a, const auto &b) { return double(a.x) * b.y; }, left, right);
}

template <int... N> std::size_t everything(std::integer_sequence<int, N...>)
{
	return ((containers<N + SEED>(N) + static_cast<std::size_t>(pipeline<N + SEED>({}))) + ...) +
	       static_cast<std::size_t>(visited<N...>({}, {}));
}

} // namespace

std::size_t compiled(const std::string &text)
{
	return text.size() + everything(std::make_integer_sequence<int, 3>());
}
