// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests to block devices as markers, as kernel/sched-trace.c has them for the
 * scheduler. Sectors are units of 512 bytes.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/blktrace_api.h>
#include <trace/events/block.h>
#include <trace/tracer.h>

static dev_t request_dev(const struct request *rq)
{
	return rq->q->disk ? disk_devt(rq->q->disk) : 0;
}

static unsigned int request_op(const struct request *rq)
{
	return (__force unsigned int)req_op(rq);
}

#define DEFINE_REQUEST_TRACER(tp, mark)					\
	DEFINE_TRACER(tp, mark, TP_PROTO(struct request *rq),		\
		      "major %u minor %u op %u sector %llu bytes %u",	\
		      MAJOR(request_dev(rq)), MINOR(request_dev(rq)),	\
		      request_op(rq),					\
		      (unsigned long long)blk_rq_trace_sector(rq),	\
		      blk_rq_bytes(rq))

DEFINE_REQUEST_TRACER(block_rq_insert, blk_request_insert);
DEFINE_REQUEST_TRACER(block_rq_issue, blk_request_issue);
DEFINE_REQUEST_TRACER(block_rq_requeue, blk_request_requeue);

DEFINE_TRACER(block_rq_complete, blk_request_complete,
	      TP_PROTO(struct request *rq, blk_status_t error,
		       unsigned int nr_bytes),
	      "major %u minor %u op %u sector %llu bytes %u error %d",
	      MAJOR(request_dev(rq)), MINOR(request_dev(rq)), request_op(rq),
	      (unsigned long long)blk_rq_trace_sector(rq), nr_bytes,
	      blk_status_to_errno(error));
