// SPDX-License-Identifier: MIT
// The rules of `monitor explain`: what they claim of the evidence.
//
// Invariants: a claim's share minus its bound reaches its threshold; no claim is made of what was not recorded; where
// too much is unknown or anything was lost, that is the first claim, and `nothing` is not claimed.
#pragma once

#include "evidence.h"
#include "finding.h"
#include "thresholds.h"

namespace monitor::explain {

Explanation judge(const Evidence &evidence, const Thresholds &thresholds);

} // namespace monitor::explain
