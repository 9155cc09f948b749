// SPDX-License-Identifier: MIT
// What libpoet.so shows: every other symbol of it is hidden. Included by all headers of poet/; programs need it not.
// The headers include nothing but the C++ library and each other.
#pragma once

#define POET_API __attribute__((visibility("default")))
