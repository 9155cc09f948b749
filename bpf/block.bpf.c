/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Family block: requests issued to the driver and completed. Included by card.bpf.c. May be preempted where tracepoints
 * are preemptible, so there are tp_ variants.
 */
#include "post.bpf.h"

#define REQ_OP_MASK 0xff

/* Device number as in the kernel's own block events: major << 20 | minor. */
INLINE __u32 device_of(struct request *request)
{
	struct gendisk *disk = BPF_CORE_READ(request, q, disk);

	return disk ? BPF_CORE_READ(disk, major) << 20 | BPF_CORE_READ(disk, first_minor) : 0;
}

SEC("?tp_btf/block_rq_issue")
int BPF_PROG(block_rq_issue, struct request *request)
{
	return post_block_rq_issue_to_card(request->cmd_flags & REQ_OP_MASK, device_of(request), request->__data_len,
					   request->__sector);
}

/* The kernel's blk_status_to_errno() for the codes that devices report; anything newer is -EIO. */
INLINE int error_of(unsigned char status)
{
	const unsigned char errors[] = {0, 95, 110, 28, 67, 121, 52, 61, 84, 12, 5};

	__u32 code = status;

	asm volatile("" : "+r"(code)); /* so that what is compared and what is used are one register: the verifier */
	return code < sizeof(errors) ? -errors[code] : -5;
}

SEC("?tp_btf/block_rq_complete")
int BPF_PROG(block_rq_complete, struct request *request, unsigned char error, unsigned int nr_bytes)
{
	return post_block_rq_complete_to_card(error_of(error), device_of(request), nr_bytes, request->__sector);
}

/* REQ_OP_* from the letters that the tracepoint record has instead (blk_fill_rwbs in the kernel). */
INLINE __u32 operation_of(char first, char second)
{
	if (first == 'F' && second)
		first = second;
	return first == 'W' ? 1 : first == 'F' ? 2 : first == 'D' ? 3 : 0;
}

SEC("?tp/block/block_rq_issue")
int tp_block_rq_issue(struct trace_event_raw_block_rq *context)
{
	return post_block_rq_issue(operation_of(context->rwbs[0], context->rwbs[1]), context->dev, context->bytes,
				   context->sector);
}

SEC("?tp/block/block_rq_complete")
int tp_block_rq_complete(struct trace_event_raw_block_rq_completion *context)
{
	return post_block_rq_complete(context->error, context->dev, context->nr_sector * 512, context->sector);
}
