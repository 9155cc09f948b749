// SPDX-License-Identifier: MIT
// How the library says that something cannot be done: one sentence, with the remedy where there is one.
//
// Thrown by whatever opens a trace, looks a name up, reads an expression or a time. Damaged bytes of a trace throw
// nothing: they are told by Trace::problems() and shown as gaps. Exceptions of a program's own visitor pass unchanged.
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
