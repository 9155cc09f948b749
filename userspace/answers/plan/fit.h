// SPDX-License-Identifier: MIT
// Least squares with non-negative factors.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace monitor::plan {

// A row: values, and last the result that they add up to, each multiplied by its factor.
constexpr std::size_t factors = 4;
using Row = std::array<double, factors + 1>;
std::array<double, factors> fit(std::span<const Row> rows);

} // namespace monitor::plan
