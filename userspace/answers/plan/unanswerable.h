// SPDX-License-Identifier: MIT
// The recording lacks what the answer needs; the message is one sentence.
#pragma once

#include "base/error.h"

namespace monitor::plan {

class Unanswerable : public Error {
public:
	using Error::Error;
};

} // namespace monitor::plan
