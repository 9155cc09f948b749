// SPDX-License-Identifier: MIT
// Parts and links of a path as text.
#pragma once

#include <string>

#include "parts.h"
#include "reading/analyze/event_kinds.h"

namespace monitor::path {

// The call in which a thread slept: "fsync", "no call", "page fault", "unknown call", "a stop by its tracer".
std::string call_text(std::uint32_t call, const analyze::EventKinds &kinds);
// "running: user", "ready: CPU had cc1", "blocked: fsync until disk vda (254:0)", "... network", "... timer", "...
// irq:24", "blocked: stopped by a signal"
std::string what_text(const Part &part, const analyze::EventKinds &kinds, const Names &names);
// "running", "ready", or what_text() of the part.
std::string link_text(const Link &link, const Part &part, const analyze::EventKinds &kinds, const Names &names);
// "cc1-4711"
std::string thread_text(const ThreadStretches &of, std::uint64_t time, const Names &names);

} // namespace monitor::path
