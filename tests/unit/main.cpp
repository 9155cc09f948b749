// SPDX-License-Identifier: MIT
// The test program's main: Catch2 brings it.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
