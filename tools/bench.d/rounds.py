# SPDX-License-Identifier: MIT
"""Interleaved rounds: each runs everything once, in random order, so what changes on the machine changes for all; and what
the differences within the rounds say.

Estimates and 95 % bounds are those of Wilcoxon's signed-rank test: the median of the means of all pairs of differences
(Hodges, Lehmann), and how far into these means the test reaches. It asks for no normal distribution, a quarter of the
rounds may be disturbed without moving it far, and unlike a bootstrap of the median it is not coarse with 25 rounds. With
fewer than six rounds there are no such bounds: they are the extremes then."""
import math
import os
import random

NORMAL_95 = 1.96  # two-sided
LARGEST_RATIO = 1000.0  # above it, infinite


def run_rounds(context, found, measure, rounds):
	"""`found`: context managers by name, called with an outcome to fill. A list of rounds, each what `measure` returned by
	name, with the outcome."""
	shuffle = random.Random(2)
	done = []
	for _ in range(context.rounds_or(rounds)):
		order = list(found)
		shuffle.shuffle(order)
		measured = {}
		for name in order:
			outcome = {}
			os.sync()  # what the one before wrote is not to hold up this one
			with found[name](outcome):
				measured[name] = measure()
			measured[name]["outcome"] = outcome
		done.append(measured)
	return done


class Estimate:
	"""A value with its 95 % bounds."""

	def __init__(self, bounds, rounds):
		self.low, self.mid, self.high = bounds
		self.rounds = rounds

	def text(self, digits=2):
		return f"{self.mid:.{digits}f} ({self.low:.{digits}f} to {self.high:.{digits}f})"

	def json(self):
		return {"min": self.low, "median": self.mid, "max": self.high, "rounds": self.rounds, "bounds": "95 %"}


def signed_rank(values):
	means = sorted((a + b) / 2 for i, a in enumerate(values) for b in values[i:])
	n, count = len(values), len(means)
	outside = max(int(count / 2 - NORMAL_95 * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)), 0)
	return means[outside], (means[(count - 1) // 2] + means[count // 2]) / 2, means[count - 1 - outside]


def difference(above, below):
	return Estimate(signed_rank([a - b for a, b in zip(above, below)]), len(above))


def ratio(above, below):
	"""Of the ratios r from 0 those at which the differences `above - r * below` may be around 0: a round in which `below` is
	nearly nothing does not count for more than others."""
	def zero(which):
		low, high = 0.0, LARGEST_RATIO
		for _ in range(50):
			middle = (low + high) / 2
			if signed_rank([a - middle * b for a, b in zip(above, below)])[which] > 0:
				low = middle
			else:
				high = middle
		return low if high < LARGEST_RATIO else math.inf

	return Estimate(map(zero, range(3)), len(above))
