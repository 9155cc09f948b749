// SPDX-License-Identifier: MIT
// All of POET, the library for reading event traces; introduced in Documentation/poet.md.
#pragma once

#include "clock.hpp"
#include "cursor.hpp"
#include "error.hpp"
#include "event.hpp"
#include "faults.hpp"
#include "filter.hpp"
#include "trace.hpp"
#include "visit.hpp"
