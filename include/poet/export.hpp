// SPDX-License-Identifier: MIT
// Marks what libpoet.so exports; all its other symbols are hidden. All headers of poet/ include it; programs need not.
// The headers include only the C++ standard library and each other.
#pragma once

#define POET_API __attribute__((visibility("default")))
