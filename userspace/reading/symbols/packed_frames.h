// SPDX-License-Identifier: MIT
// .monitor/frames: the names of all frames that the stacks of a trace have, so that it can be read where the programs
// are not. Written by `monitor pack`, a line of JSON for each address:
//
//	{"file": 3, "at": 4660, "frames": [["main", "slow.c:42"], ["step (inlined)", "slow.c:10"]]}
//	{"kernel": 18446744071578845184, "frames": [["vfs_read", ""]], "module": "[ext4]"}
//	{"process": 77, "address": 139637976727552, "size": 64, "since": 0, "name": "LazyCompile:~step slow.js:10"}
//
// `file` is the number in .monitor/files; `at` is a file address; addresses of the kernel and of
// functions generated at run time are memory addresses. Untrusted: other lines are skipped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "debug_info.h"
#include "jit_functions.h"

namespace monitor::symbols {

struct PackedFrames {
	struct InFile {
		std::uint32_t file = 0; // 0: the kernel
		std::uint64_t address = 0;
		std::vector<SourceFrame> frames; // as DebugInfo::find() has them
		std::string module;              // of the kernel
	};
	struct Jit { // a function generated at run time
		std::int32_t process = 0;
		JitFunction function;
	};
	std::vector<InFile> in_files;
	std::vector<Jit> jit;
};

PackedFrames parse_packed_frames(const std::string &untrusted_text);
std::string packed_frames_text(const PackedFrames &frames);

} // namespace monitor::symbols
