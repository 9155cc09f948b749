# SPDX-License-Identifier: MIT
# Eight files to make, of which one takes longer than all others together.
files := one two three four five six seven
all: $(files) long
$(files):
	$(LOADS) spin 15000
long:
	$(LOADS) spin 500000
.PHONY: all long $(files)
