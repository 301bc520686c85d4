# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading what vqsteer printed: snapshots (schema vqsteer/1), their figures and differences."""
import json

HIST_ERROR = 1 / 16  # include/vqsteer/hist.h: at most this far from the true value
TERMS = ("submitted", "complete_only", "completed", "in_flight", "aborted",
         "untracked_slot_taken", "end_missed", "imbalance")
VQ, PQUEUE, IQUEUE, BG, CONN = ("virtio_fs_vq.lock", "fuse_pqueue.lock", "fuse_iqueue.lock",
                                "fuse_conn.bg_lock", "fuse_conn.lock")


def load(path):
    """The last line of @path as an object: one snapshot, or doctor's findings."""
    with open(path, encoding="utf-8") as f:
        return json.loads(f.read().splitlines()[-1])


def load_lines(path):
    """Every line of @path; the last one may have been cut off by a kill."""
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.endswith("\n")]


def device(snapshot, tag="data"):
    for d in snapshot["devices"]:
        if d["tag"] == tag:
            return d
    raise LookupError("no device with tag %s in the snapshot" % tag)


def queue(snapshot, index=1, tag="data"):
    for q in device(snapshot, tag)["queues"]:
        if q["index"] == index:
            return q
    raise LookupError("no queue %d of device %s in the snapshot" % (index, tag))


def has_queue(snapshot, index, tag="data"):
    return any(q["index"] == index for q in device(snapshot, tag)["queues"])


def lock(holder, name):
    """@holder: a queue or a device."""
    for found in holder["locks"]:
        if found["lock"] == name:
            return found
    raise LookupError("no lock %s there" % name)


def all_locks(snapshot):
    """(where, lock) of every lock: where is "tag" or "tag/queue"."""
    for d in snapshot["devices"]:
        for found in d["locks"]:
            yield d["tag"], found
        for q in d["queues"]:
            for found in q["locks"]:
                yield "%s/%d" % (d["tag"], q["index"]), found


def ops(q):
    """Requests by opcode's name."""
    return {o["op"]: o["total"]["count"] for o in q.get("ops", [])}


def grown(before, after):
    """What each counter of a flat object gained; zeros left out."""
    keys = set(before) | set(after)
    gain = {k: after.get(k, 0) - before.get(k, 0) for k in keys}
    return {k: v for k, v in sorted(gain.items()) if v}


class Hist:
    """Buckets by their lowest value, as they are printed; {} or None is the empty one."""

    def __init__(self, printed=None):
        printed = printed or {}
        self.bucket = dict(printed.get("buckets", []))
        self.count = printed.get("count", 0)
        self.sum = printed.get("sum", 0)
        self.max = printed.get("max", 0)

    def since(self, before):
        """What was added since @before; the maximum is not known then."""
        h = Hist()
        h.bucket = grown(before.bucket, self.bucket)
        h.count = self.count - before.count
        h.sum = self.sum - before.sum
        return h

    def percentile(self, per_mille):
        """Middle of the bucket that holds the value of this rank, as userspace/common/hist.c."""
        rank = max(1, -(-self.count * per_mille // 1000))
        for low in sorted(self.bucket):
            rank -= self.bucket[low]
            if rank <= 0:
                return low + (bucket_width(low) - 1) // 2
        return 0

    def commonest(self):
        """Middle of the three neighbouring buckets that hold most."""
        def around(low):
            width = bucket_width(low)
            return (low - bucket_width(low - 1) if low > 1 else 0, low, low + width)
        lows = set(low for seen in self.bucket for low in around(seen))
        best = max(sorted(lows), key=lambda low: sum(self.bucket.get(b, 0) for b in around(low)))
        return best + (bucket_width(best) - 1) // 2

    def mean(self):
        return self.sum / self.count if self.count else 0


def bucket_width(low):
    return 1 if low < 16 else 1 << (low.bit_length() - 4)


def exact_percentile(values, per_mille):
    """Of a list: the value whose rank is ceil(n * p)."""
    ordered = sorted(values)
    return ordered[max(1, -(-len(ordered) * per_mille // 1000)) - 1]
