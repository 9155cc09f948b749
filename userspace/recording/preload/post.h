/* SPDX-License-Identifier: MIT */
/* Posts the events of patched functions to the user card. */
#ifndef MONITOR_PRELOAD_POST_H
#define MONITOR_PRELOAD_POST_H

#include <stdint.h>

/* `stack_pointer` as at the first instruction and at the return: the address of the return address. */
void monitor_post_entry(uint32_t function, uint64_t stack_pointer);
void monitor_post_exit(uint32_t function, uint64_t stack_pointer);

/* `functions` functions from `first` on were patched, except sleds with unexpected code. */
void monitor_post_patched(uint32_t first, uint64_t functions, uint64_t refused_sleds);

#endif
