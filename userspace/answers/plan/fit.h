// SPDX-License-Identifier: MIT
// Least squares with factors that cannot be negative.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace monitor::plan {

// The factors, none below 0, whose sum of products with each row's values is closest to its last value (least squares).
constexpr std::size_t factors = 4;
using Row = std::array<double, factors + 1>;
std::array<double, factors> fit(std::span<const Row> rows);

} // namespace monitor::plan
