/* SPDX-License-Identifier: GPL-2.0-only */
/* Included before probes, after all other headers: from here on a value that is wider than its field does not compile.
 */
#pragma GCC diagnostic error "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
