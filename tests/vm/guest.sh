#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# What every guest of the matrix runs (tests/vm/run): the other scripts, which lie beside it.
for script in getppid.sh user.sh; do
	sh ./$script || exit 1
done
