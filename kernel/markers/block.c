// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests to block devices as markers; a sector has 512 bytes.
 */
#include <linux/marker.h>
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <trace/events/block.h>

static dev_t request_dev(const struct request *rq)
{
	return rq->q->disk ? disk_devt(rq->q->disk) : 0;
}

#define REQUEST_FORMAT	"major %u minor %u op %u sector %llu bytes %u"

#define REQUEST_ARGS(rq, bytes)						\
	MAJOR(request_dev(rq)), MINOR(request_dev(rq)),			\
	(unsigned int)req_op(rq), (unsigned long long)blk_rq_pos(rq), bytes

DEFINE_TRACER(block_rq_insert, blk_request_insert,
	      TP_PROTO(struct request *rq),
	      REQUEST_FORMAT, REQUEST_ARGS(rq, blk_rq_bytes(rq)));

DEFINE_TRACER(block_rq_issue, blk_request_issue,
	      TP_PROTO(struct request *rq),
	      REQUEST_FORMAT, REQUEST_ARGS(rq, blk_rq_bytes(rq)));

DEFINE_TRACER(block_rq_requeue, blk_request_requeue,
	      TP_PROTO(struct request *rq),
	      REQUEST_FORMAT, REQUEST_ARGS(rq, blk_rq_bytes(rq)));

DEFINE_TRACER(block_rq_complete, blk_request_complete,
	      TP_PROTO(struct request *rq, blk_status_t error,
		       unsigned int nr_bytes),
	      REQUEST_FORMAT " error %d",
	      REQUEST_ARGS(rq, nr_bytes), blk_status_to_errno(error));
