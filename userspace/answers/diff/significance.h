// SPDX-License-Identifier: MIT
// Whether the values of two groups of repetitions differ by more than chance: Mann-Whitney's test, and Holm's
// correction for testing several rows.
//
// Up to max_exact values in all, p is exact, ties included: the share of all ways to divide the values into two groups
// of these sizes in which the sum of (mean) ranks is as far from its expectation, or farther. Above it is the normal
// approximation, corrected for ties and continuity.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace monitor::diff {

constexpr std::size_t max_exact = 50;
constexpr double significance_level = 0.05;
constexpr std::size_t min_repetitions = 4; // of each side

// Two-sided p.
double mann_whitney(std::span<const double> before, std::span<const double> after);

// The smallest p that groups of these sizes can have.
double min_p(std::size_t before, std::size_t after);
// How many rows can be tested if each may still be significant after the correction; 0: none.
std::size_t max_tested_rows(std::size_t before, std::size_t after);
// The repetitions of each side that can test this many rows.
std::size_t repetitions_for(std::size_t rows);

// Corrected p, in the same order.
std::vector<double> holm(std::span<const double> p);

} // namespace monitor::diff
