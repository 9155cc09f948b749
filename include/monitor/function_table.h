/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which functions a program patches in itself (record --functions), told by the recorder to the library that it
 * preloads into the command's processes: a file of this header, the modules, and the patches of all modules, those of
 * one module together and in order of the functions. Written by userspace/recording/functions/patch_table.cpp, read by
 * userspace/recording/preload/patch.c.
 *
 * What is patched, a *sled*, is space that the compiler left: LLVM's XRay at each entry, return and tail call (11
 * bytes: llvm/lib/Target/X86/X86MCInstLower.cpp, compiler-rt/lib/xray/xray_x86_64.cpp), gcc's -mnop-mcount and
 * -minstrument-return=nop5 at each entry and ahead of each return (5 bytes).
 */
#ifndef MONITOR_FUNCTION_TABLE_H
#define MONITOR_FUNCTION_TABLE_H

#include <linux/types.h>

#define EDC_FUNCTION_TABLE_ENVIRONMENT "MONITOR_FUNCTIONS" /* the file's path */
#define EDC_FUNCTION_TABLE_MAGIC 0x31734e7546636465ull     /* edcFuNs1 */
#define EDC_MAX_FUNCTIONS 4096

/* What the library posts, each with the function's number, or the first one's, as its argument. */
#define EDC_FUNCTION_PROVIDER "monitor"

enum edc_sled_kind {
	EDC_SLED_XRAY_ENTRY,
	EDC_SLED_XRAY_RETURN,
	EDC_SLED_XRAY_TAIL,
	EDC_SLED_NOP_ENTRY,
	EDC_SLED_NOP_RETURN,
};

struct edc_function_table {
	__u64 magic;
	__u32 modules, sleds;
};

/* A program or shared library, known by its file. */
struct edc_function_module {
	__u64 device, inode, size, modified_ns;
	__u32 first_sled, sleds;
};

struct edc_function_sled {
	__u64 offset; /* in the file */
	__u16 function, kind;
	__u32 reserved;
};

#endif
