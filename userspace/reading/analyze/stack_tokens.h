// SPDX-License-Identifier: MIT
// Decodes tokens of stacks and mappings (record --stacks) for observers. They do not change the fold.
#pragma once

#include <vector>

#include "event_kinds.h"
#include "observer.h"
#include "reading/events/event.h"

namespace monitor::analyze {

// All but StackSample::is_counted.
StackSample stack_sample(const EventKind &kind, const trace::Event &event);
void deliver_stack_frames(const EventKind &kind, const trace::Event &event, const std::vector<Observer *> &observers);
void deliver_stack_end(const EventKind &kind, const trace::Event &event, const std::vector<Observer *> &observers);
void deliver_mapping(const EventKind &kind, const trace::Event &event, const std::vector<Observer *> &observers);

} // namespace monitor::analyze
