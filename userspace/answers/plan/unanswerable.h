// SPDX-License-Identifier: MIT
// What a recording does not tell: the question is refused, in one sentence.
#pragma once

#include "base/error.h"

namespace monitor::plan {

class Unanswerable : public Error {
public:
	using Error::Error;
};

} // namespace monitor::plan
