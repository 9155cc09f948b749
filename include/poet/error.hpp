// SPDX-License-Identifier: MIT
// Reports that something cannot be done: one sentence, with the remedy where there is one.
//
// Thrown by whatever opens a trace, looks up a name, or parses an expression or a time. Damaged bytes of a trace do not
// throw: Trace::problems() reports them, and they appear as gaps. Exceptions of a program's visitor pass unchanged.
#pragma once

#include <stdexcept>

#include "export.hpp"

namespace poet {

class POET_API Error : public std::runtime_error {
public:
	using std::runtime_error::runtime_error;
	Error(const Error &) = default;
	Error &operator=(const Error &) = default;
	~Error() override;
};

} // namespace poet
