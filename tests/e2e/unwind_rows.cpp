// SPDX-License-Identifier: MIT
// The unwind table of a file as text, a row a line: "address register cfa fp", offsets in words; for stacks.py, which
// compares it with what readelf says. unwind_rows FILE
#include <cstdio>

#include <fcntl.h>

#include "base/elf_image.h"
#include "base/fd.h"
#include "recording/stacks/unwind_table.h"

int main(int count, char **arguments)
{
	using namespace monitor;
	if (count != 2)
		return 2;
	const Fd fd(::open(arguments[1], O_RDONLY | O_CLOEXEC));
	const auto image = fd ? ElfImage::open(fd.get()) : std::nullopt;
	const ElfSection *section = image ? image->section(".eh_frame") : nullptr;
	if (!section)
		return 1;
	const auto bytes = image->content(*section, 64 << 20);
	for (const edc_unwind_row &row : stacks::unwind_table(bytes, section->address))
		if (row.rule == EDC_UNWIND_SP || row.rule == EDC_UNWIND_FP)
			std::printf("%#x %s %d %d\n", row.address, row.rule == EDC_UNWIND_SP ? "sp" : "bp", row.cfa,
				    row.fp);
	return 0;
}
