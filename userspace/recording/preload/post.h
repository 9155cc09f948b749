/* SPDX-License-Identifier: MIT */
/* Posts the events of patched functions to the user card. Called by trampolines.c, and by patch.c at the start. */
#ifndef MONITOR_PRELOAD_POST_H
#define MONITOR_PRELOAD_POST_H

#include <stdint.h>

/* `stack_pointer` as at the first instruction, and as at the return: where the return address lies. */
void monitor_post_entry(uint32_t function, uint64_t stack_pointer);
void monitor_post_exit(uint32_t function, uint64_t stack_pointer);

/* Functions from `first` on were patched here, but for sleds with other code than expected. */
void monitor_post_patched(uint32_t first, uint64_t functions, uint64_t refused_sleds);

#endif
