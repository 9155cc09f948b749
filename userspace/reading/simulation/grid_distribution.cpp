// SPDX-License-Identifier: MIT
#include "grid_distribution.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <numeric>
#include <utility>

namespace monitor::simulation {
namespace {

constexpr double negligible = 1e-13;
using Spectrum = std::vector<std::complex<double>>;

void reverse_bits_of_indices(Spectrum &values)
{
	for (std::size_t i = 1, j = 0; i < values.size(); ++i) {
		std::size_t bit = values.size() / 2;
		for (; j & bit; bit /= 2)
			j ^= bit;
		j ^= bit;
		if (i < j)
			std::swap(values[i], values[j]);
	}
}

// The fast Fourier transform, in place; the size is a power of two. `sign`: -1, or 1 for the inverse times the size.
void transform(Spectrum &values, int sign)
{
	const std::size_t size = values.size();
	reverse_bits_of_indices(values);
	Spectrum roots(size / 2);
	for (std::size_t i = 0; i < roots.size(); ++i)
		roots[i] =
		    std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(size));
	for (std::size_t length = 2; length <= size; length *= 2)
		for (std::size_t first = 0; first < size; first += length)
			for (std::size_t i = 0; i < length / 2; ++i) {
				std::complex<double> &low = values[first + i], &high = values[first + i + length / 2];
				const std::complex<double> turned = high * roots[i * (size / length)];
				high = low - turned;
				low += turned;
			}
}

std::vector<double> convolution(const std::vector<double> &a, const std::vector<double> &b)
{
	std::size_t size = 1;
	while (size < a.size() + b.size() - 1)
		size *= 2;
	Spectrum both(size); // one transform for a, the real part, and b, the imaginary part
	for (std::size_t i = 0; i < a.size(); ++i)
		both[i].real(a[i]);
	for (std::size_t i = 0; i < b.size(); ++i)
		both[i].imag(b[i]);
	transform(both, -1);
	for (std::complex<double> &value : both)
		value *= value;
	transform(both, 1); // (a + ib)^2 has the imaginary part 2ab
	std::vector<double> product(a.size() + b.size() - 1);
	for (std::size_t i = 0; i < product.size(); ++i)
		product[i] = std::max(both[i].imag() / 2 / static_cast<double>(size), 0.0);
	return product;
}

std::vector<double> cumulated(std::vector<double> mass)
{
	std::partial_sum(mass.begin(), mass.end(), mass.begin());
	return mass;
}

std::vector<double> differences(std::vector<double> cumulative)
{
	std::adjacent_difference(cumulative.begin(), cumulative.end(), cumulative.begin());
	return cumulative;
}

// Of the points 0, step, 2 step ..., from a distribution function.
std::vector<double> masses(double step, std::size_t points, const std::function<double(double)> &cumulative)
{
	std::vector<double> mass(points);
	for (std::size_t i = 0; i < points; ++i) {
		const double at = step * static_cast<double>(i);
		mass[i] = cumulative(at + step / 2) - cumulative(at - step / 2);
	}
	return mass;
}

} // namespace

GridDistribution::GridDistribution(double start, double step, std::vector<double> mass)
    : start_(start), step_(step), mass_(std::move(mass))
{
	const auto is_kept = [](double probability) { return probability > negligible; };
	const auto first = std::ranges::find_if(mass_, is_kept) - mass_.begin();
	while (!is_kept(mass_.back()))
		mass_.pop_back();
	mass_.erase(mass_.begin(), mass_.begin() + first);
	start_ += step_ * static_cast<double>(first);
	const double all = std::accumulate(mass_.begin(), mass_.end(), 0.0);
	for (double &probability : mass_)
		probability /= all;
}

GridDistribution GridDistribution::point(double time)
{
	return {time, 1, {1}};
}

GridDistribution GridDistribution::uniform(double from, double to)
{
	if (from >= to)
		return point(from);
	const double step = (to - from) / (max_points - 1);
	return {from, step, masses(step, max_points, [&](double x) { return std::clamp(x / (to - from), 0.0, 1.0); })};
}

GridDistribution GridDistribution::exponential(double mean)
{
	if (mean <= 0)
		return point(0);
	const double step = mean * -std::log(negligible) / max_points;
	return {0, step, masses(step, max_points, [&](double x) { return x > 0 ? 1 - std::exp(-x / mean) : 0; })};
}

GridDistribution GridDistribution::values(std::span<const double> sample)
{
	const auto [low, high] = std::ranges::minmax(sample);
	if (low == high)
		return point(low);
	const double step = (high - low) / (max_points - 1);
	std::vector<double> mass(max_points);
	for (const double value : sample) {
		const double at = (value - low) / step;
		const std::size_t below = std::min(static_cast<std::size_t>(at), max_points - 2);
		mass[below] += 1 - (at - static_cast<double>(below));
		mass[below + 1] += at - static_cast<double>(below);
	}
	for (double &probability : mass)
		probability /= static_cast<double>(sample.size());
	return {low, step, std::move(mass)};
}

double GridDistribution::mean() const
{
	double sum = 0;
	for (std::size_t i = 0; i < mass_.size(); ++i)
		sum += mass_[i] * static_cast<double>(i);
	return start_ + step_ * sum;
}

double GridDistribution::deviation() const
{
	const double center = mean();
	double sum = 0;
	for (std::size_t i = 0; i < mass_.size(); ++i) {
		const double distance = start_ + step_ * static_cast<double>(i) - center;
		sum += mass_[i] * distance * distance;
	}
	return std::sqrt(sum);
}

double GridDistribution::quantile(double share) const
{
	double sum = 0;
	for (std::size_t i = 0; i < mass_.size(); ++i) {
		sum += mass_[i];
		if (sum >= share)
			return start_ + step_ * static_cast<double>(i);
	}
	return end();
}

GridDistribution GridDistribution::scaled(double factor) const
{
	return {start_ * factor, step_ * factor, mass_};
}

std::vector<double> GridDistribution::resampled(double start, double step, std::size_t points) const
{
	std::vector<double> mass(points);
	for (std::size_t i = 0; i < mass_.size(); ++i) {
		const double at = std::max((start_ + step_ * static_cast<double>(i) - start) / step, 0.0);
		const std::size_t below = std::min(static_cast<std::size_t>(at), points - 1);
		const double rest = std::min(at - static_cast<double>(below), 1.0);
		mass[below] += mass_[i] * (1 - rest);
		mass[std::min(below + 1, points - 1)] += mass_[i] * rest;
	}
	return mass;
}

GridDistribution GridDistribution::then(const GridDistribution &other) const
{
	if (other.mass_.size() == 1)
		return {start_ + other.start_, step_, mass_};
	if (mass_.size() == 1)
		return other.then(*this);
	const double range = end() - start_ + other.end() - other.start_;
	const double step = std::max({step_, other.step_, range / (max_points - 3)});
	const auto points = [&](const GridDistribution &each) {
		return static_cast<std::size_t>(std::ceil((each.end() - each.start_) / step)) + 1;
	};
	return {
	    start_ + other.start_, step,
	    convolution(resampled(start_, step, points(*this)), other.resampled(other.start_, step, points(other)))};
}

GridDistribution GridDistribution::repeated(std::uint64_t times) const
{
	GridDistribution all = point(0), power = *this;
	for (; times > 0; times /= 2) {
		if (times % 2 > 0)
			all = all.then(power);
		if (times > 1)
			power = power.then(power);
	}
	return all;
}

GridDistribution GridDistribution::beside(const GridDistribution &other) const
{
	const double start = std::max(start_, other.start_), stop = std::max(end(), other.end());
	if (start >= stop)
		return point(stop);
	double step = (stop - start) / (max_points - 1);
	if (mass_.size() > 1 && other.mass_.size() > 1) // no finer than either
		step = std::max(step, std::min(step_, other.step_));
	const auto points = static_cast<std::size_t>(std::ceil((stop - start) / step)) + 1;
	std::vector<double> cumulative = cumulated(resampled(start, step, points));
	const std::vector<double> other_values = cumulated(other.resampled(start, step, points));
	for (std::size_t i = 0; i < points; ++i)
		cumulative[i] *= other_values[i];
	return {start, step, differences(std::move(cumulative))};
}

GridDistribution GridDistribution::side_by_side(std::uint64_t number) const
{
	std::vector<double> cumulative = cumulated(mass_);
	for (double &share : cumulative)
		share = std::pow(std::min(share, 1.0), static_cast<double>(number));
	return {start_, step_, differences(std::move(cumulative))};
}

GridDistribution GridDistribution::or_else(double probability, const GridDistribution &other) const
{
	const double start = std::min(start_, other.start_), stop = std::max(end(), other.end());
	if (start >= stop)
		return *this;
	const double step = (stop - start) / (max_points - 1);
	std::vector<double> mass = resampled(start, step, max_points);
	const std::vector<double> other_values = other.resampled(start, step, max_points);
	for (std::size_t i = 0; i < mass.size(); ++i)
		mass[i] = probability * mass[i] + (1 - probability) * other_values[i];
	return {start, step, std::move(mass)};
}

} // namespace monitor::simulation
