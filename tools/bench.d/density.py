# SPDX-License-Identifier: MIT
"""Bytes per token in the stream files of a recorded compile, block headers included."""
import endtoend
import peers
from lib import Result, stream_bytes, trace_info

TITLE = "density: bytes per token on the compile"


def bench(context):
	result = Result(TITLE)
	directory = context.path("trace")
	load = endtoend.Compile(context)
	with peers.recording(context, "", {}, directory):
		load.measure()
	tokens, size = trace_info(context, directory)["summary"]["tokens"], stream_bytes(directory)
	result.table(["stream files", "bytes", "tokens", "bytes per token"],
		[["all", f"{size:,}", f"{tokens:,}", f"{size / tokens:.2f}"]])
	result.bar("bytes per token, headers included", size / tokens, 12)
	result.figures = {"bytes": size, "tokens": tokens}
	return result
