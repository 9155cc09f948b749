/* SPDX-License-Identifier: MIT */
#include "bpf_helpers.h"
