// SPDX-License-Identifier: GPL-2.0-or-later
/* Messages about one ring. */
#include <errno.h>
#include <fcntl.h>

#include <linux/vhost_types.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "vqfsd/vhost_priv.h"

static struct fsd_queue *find(struct fsd_vhost *v, uint32_t index, const char **why)
{
	if (index < v->dev->nr_queues)
		return &v->dev->queue[index];
	*why = "there is no such ring";
	return NULL;
}

static int check_stopped(const struct fsd_queue *q, const char **why)
{
	if (!(fsd_queue_state(q) & VQS_FSD_STARTED))
		return 0;
	*why = "the ring is started";
	return -EBUSY;
}

int fsd_vhost_set_num(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds, const char **why)
{
	struct fsd_queue *q = find(v, m->payload.state.index, why);

	if (!q)
		return -EINVAL;
	if (!vq_size_valid(m->payload.state.num)) {
		*why = "a queue size is a power of two up to 32768";
		return -EINVAL;
	}
	if (q->size == m->payload.state.num)
		return 0;
	if (check_stopped(q, why))
		return -EBUSY;
	q->size = m->payload.state.num;
	return 0;
}

static bool same_areas(const struct vhu_vring_addr *a, const struct vhu_vring_addr *b)
{
	return a->desc == b->desc && a->avail == b->avail && a->used == b->used;
}

int fsd_vhost_set_addr(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds,
		       const char **why)
{
	struct vhu_vring_addr a = m->payload.addr;
	struct fsd_queue *q = find(v, a.index, why);

	if (!q)
		return -EINVAL;
	if (a.flags & 1u << VHOST_VRING_F_LOG) {
		*why = "a log of changed pages, which was not offered";
		return -EINVAL;
	}
	if (q->has_addr && same_areas(&q->addr, &a))
		return 0;
	if (check_stopped(q, why))
		return -EBUSY;
	q->addr = a;
	q->has_addr = true;
	return 0;
}

int fsd_vhost_set_base(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds,
		       const char **why)
{
	struct fsd_queue *q = find(v, m->payload.state.index, why);

	if (!q)
		return -EINVAL;
	if (m->payload.state.num > UINT16_MAX) {
		*why = "an index of more than 16 bits";
		return -EINVAL;
	}
	if (check_stopped(q, why))
		return -EBUSY;
	q->base = (uint16_t)m->payload.state.num;
	return 0;
}

int fsd_vhost_get_base(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds,
		       const char **why)
{
	struct fsd_queue *q = find(v, m->payload.state.index, why);

	if (!q)
		return -EINVAL;
	fsd_queue_stop(q);
	m->payload.state.num = q->base;
	vhu_make_reply(m, sizeof(m->payload.state));
	return 0;
}

/*
 * What will be waited for, or written to under a lock, is an eventfd: it has no file type. It may
 * not block us; the flag is the open file's, and QEMU has it set already.
 */
static int check_eventfd(int fd, const char **why)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	if (fstat(fd, &st) || st.st_mode & S_IFMT || flags < 0 || (flags & O_ACCMODE) != O_RDWR) {
		*why = "a descriptor that is no eventfd";
		return -EINVAL;
	}
	if (!(flags & O_NONBLOCK) && fcntl(fd, F_SETFL, flags | O_NONBLOCK)) {
		*why = "a descriptor that blocks";
		return -EINVAL;
	}
	return 0;
}

/* The ring, and its descriptor in *fd: -1 if none came with the message. */
static struct fsd_queue *take_fd(struct fsd_vhost *v, const struct vhu_msg *m, struct vhu_fds *fds,
				 int *fd, const char **why)
{
	struct fsd_queue *q = find(v, (uint32_t)(m->payload.u64 & VHU_VRING_IDX_MASK), why);

	*fd = -1;
	if (!q || (fds->nr && check_eventfd(fds->fd[0], why)))
		return NULL;
	if (fds->nr)
		*fd = TAKE_FD(fds->fd[0]);
	return q;
}

int fsd_vhost_set_kick(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds,
		       const char **why)
{
	struct fsd_queue *q;
	int fd, err;

	q = take_fd(v, m, fds, &fd, why);
	if (!q)
		return -EINVAL;
	if (fd < 0) {
		*why = "a ring without kicks would have to be polled";
		return -EOPNOTSUPP;
	}
	vqs_closep(&q->kick_next);
	q->kick_next = fd;
	/* Without protocol features, rings are enabled from the start. */
	if (!(v->features & VHU_BIT(VHU_F_PROTOCOL_FEATURES)))
		fsd_queue_enable(q, true);
	err = fsd_queue_start(q, v->features, why);
	if (err) {
		vqs_closep(&q->kick_next);
		q->kick_next = -1;
	} else if (q->kick_next >= 0) {
		*why = "its size or its addresses did not come before";
		err = -EINVAL;
	}
	return err;
}

int fsd_vhost_set_call(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds,
		       const char **why)
{
	int fd;
	struct fsd_queue *q = take_fd(v, m, fds, &fd, why);

	if (q)
		fsd_queue_set_call(q, fd);
	return q ? 0 : -EINVAL;
}

int fsd_vhost_set_err(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds, const char **why)
{
	int fd;
	struct fsd_queue *q = take_fd(v, m, fds, &fd, why);

	if (q)
		fsd_queue_set_err(q, fd);
	return q ? 0 : -EINVAL;
}

int fsd_vhost_set_enable(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds,
			 const char **why)
{
	struct fsd_queue *q = find(v, m->payload.state.index, why);

	if (!q)
		return -EINVAL;
	if (m->payload.state.num > 1) {
		*why = "enabled is 0 or 1";
		return -EINVAL;
	}
	fsd_queue_enable(q, m->payload.state.num);
	return 0;
}
