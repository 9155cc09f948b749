// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/monitor (include/monitor/device.h): a recorder creates the card, maps its rings and selects what is probed.
 * user_programs.c and user_recorder.c handle the requests of instrumented programs and their recorder (user_device.h).
 *
 * There is one card at a time, owned by one open file. The card ends when the last reference to the file is dropped;
 * each mapping holds one. So however a recorder dies, its probes are detached and its memory is freed.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "module.h"
#include "user_programs.h"
#include "user_recorder.h"

static DEFINE_MUTEX(card_lock); /* protects these two, and serialises changes of probes and rings */
static struct file *owner;	/* the open file that has the card */
static pid_t owner_pid;		/* the process that created the card */

static void detach_all(void)
{
	edc_sample_detach();
	edc_faults_detach();
	edc_probes_detach();
}

/*
 * Argument and result of a command. Copied without card_lock: a page fault takes the mmap_lock, which device_mmap()
 * already holds when it takes card_lock.
 */
union argument {
	struct edc_device_info info;
	struct edc_device_create create;
	struct edc_device_classes classes;
	struct edc_device_faults faults;
	u64 sample_every_ns;
	struct edc_device_matcher matcher;
	struct edc_device_overdue overdue;
	s32 process; /* negative: no longer traced */
	struct edc_device_stop stop;
	struct edc_device_hello hello;
	struct edc_device_class class;
};

static void fill_info(struct edc_device_info *info)
{
	memset(info, 0, sizeof(*info));
	info->version = EDC_DEVICE_VERSION;
	info->cpus = nr_cpu_ids;
	info->in_use = owner ? owner_pid : 0;
	info->refused = edc_programs_refused();
	edc_probes_available(&info->classes);
	edc_faults_available(&info->classes);
	edc_device_classes_add(&info->classes, EDC_ID_SAMPLE);
}

static int create(struct file *file, const struct edc_device_create *wanted)
{
	int error;

	if (!perfmon_capable())
		return -EPERM;
	if (owner)
		return -EBUSY;
	error = edc_sched_describe(wanted) ?: edc_kfuncs_describe(wanted->counters) ?: edc_rings_create(wanted);
	if (error)
		return error;
	owner_pid = task_tgid_nr(current);
	WRITE_ONCE(owner, file);
	return 0;
}

static struct edc_device_classes attached(void)
{
	struct edc_device_classes classes = {};

	edc_probes_attached(&classes);
	edc_faults_attached(&classes);
	edc_sample_attached(&classes);
	return classes;
}

static int attach(struct edc_device_classes *classes)
{
	int error = edc_faults_attach(classes);

	if (!error)
		error = edc_probes_attach(classes);
	if (error) {
		detach_all();
		return error;
	}
	edc_sample_attach(classes);
	*classes = attached();
	return 0;
}

static int reset(void)
{
	const struct edc_device_classes classes = attached();

	if (memchr_inv(&classes, 0, sizeof(classes)))
		return -EBUSY;
	edc_rings_reset();
	edc_faults_reset();
	return 0;
}

static int execute(struct file *file, unsigned int command, union argument *argument)
{
	if (command == EDC_DEVICE_INFO) {
		fill_info(&argument->info);
		return 0;
	}
	if (command == EDC_DEVICE_CREATE)
		return create(file, &argument->create);
	if (owner != file)
		return -EBADFD;
	switch (command) {
	case EDC_DEVICE_ATTACH:
		return attach(&argument->classes);
	case EDC_DEVICE_DETACH:
		detach_all();
		return 0;
	case EDC_DEVICE_RESET:
		return reset();
	case EDC_DEVICE_TRACE:
		edc_traced_set(abs(argument->process), argument->process > 0);
		return 0;
	case EDC_DEVICE_STOP:
		return edc_rings_stop(argument->stop.cpu, argument->stop.stopped);
	case EDC_DEVICE_MATCH:
		return edc_match_set(&argument->matcher);
	case EDC_DEVICE_OVERDUE:
		return edc_triggers_overdue(&argument->overdue);
	case EDC_DEVICE_SAMPLE:
		return argument->sample_every_ns ? edc_sample_every(argument->sample_every_ns) : edc_sample_once();
	default: /* EDC_DEVICE_FAULTS */
		edc_faults_counts(&argument->faults);
		return 0;
	}
}

static bool is_user_card_command(unsigned int command)
{
	return command == EDC_DEVICE_HELLO || command == EDC_DEVICE_USERS || command == EDC_DEVICE_CLASS;
}

static bool is_command(unsigned int command)
{
	static const unsigned int commands[] = { EDC_DEVICE_INFO,   EDC_DEVICE_CREATE, EDC_DEVICE_ATTACH,
						 EDC_DEVICE_DETACH, EDC_DEVICE_RESET,  EDC_DEVICE_FAULTS,
						 EDC_DEVICE_SAMPLE, EDC_DEVICE_MATCH,  EDC_DEVICE_OVERDUE,
						 EDC_DEVICE_TRACE,  EDC_DEVICE_STOP };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (command == commands[i])
			return true;
	return false;
}

static int execute_user_card(struct file *file, unsigned int command, union argument *argument)
{
	switch (command) {
	case EDC_DEVICE_HELLO:
		return edc_program_hello(file, &argument->hello);
	case EDC_DEVICE_USERS:
		return edc_recorder_attach(file);
	default: /* EDC_DEVICE_CLASS */
		return edc_recorder_class(file, &argument->class);
	}
}

static int execute_locked(struct file *file, unsigned int command, union argument *argument)
{
	int error;

	if (mutex_lock_interruptible(&card_lock))
		return -ERESTARTSYS;
	error = execute(file, command, argument);
	mutex_unlock(&card_lock);
	return error;
}

static long device_ioctl(struct file *file, unsigned int command, unsigned long user)
{
	const size_t size = _IOC_SIZE(command);
	union argument argument = {};
	int error;

	if (!is_command(command) && !is_user_card_command(command))
		return -ENOTTY;
	if (_IOC_DIR(command) & _IOC_WRITE && copy_from_user(&argument, (void __user *)user, size))
		return -EFAULT;
	error = is_user_card_command(command) ? execute_user_card(file, command, &argument)
					      : execute_locked(file, command, &argument);
	if (!error && _IOC_DIR(command) & _IOC_READ && copy_to_user((void __user *)user, &argument, size))
		return -EFAULT;
	return error;
}

/* The reader's page may be mapped writable, the rest never. */
static int map_area(struct vm_area_struct *vma)
{
	const u64 pages = edc_rings_area_bytes() >> PAGE_SHIFT;
	const u64 cpu = vma->vm_pgoff / pages, first = vma->vm_pgoff % pages;
	const u64 count = vma_pages(vma);

	if (cpu >= nr_cpu_ids || !cpu_possible(cpu) || count > pages - first)
		return -EINVAL;
	if (first == 0 && count != 1)
		return -EINVAL;
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (first != 0 && vma->vm_flags & VM_WRITE)
		return -EACCES;
	/* A child process does not inherit the mapping: it might outlive the recorder and keep the card alive. */
	vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP, VM_MAYEXEC | (first ? VM_MAYWRITE : 0));
	return remap_vmalloc_range(vma, edc_rings_area(cpu), first);
}

static int device_mmap(struct file *file, struct vm_area_struct *vma)
{
	int error;

	if (edc_program_has_rings(file))
		return edc_program_map(file, vma);
	if (edc_is_recorder(file))
		return edc_recorder_map(vma);
	if (mutex_lock_interruptible(&card_lock))
		return -EINTR;
	error = owner == file ? map_area(vma) : -EBADFD;
	mutex_unlock(&card_lock);
	return error;
}

/* private_data is for a program's area; the pointer that misc_open() put there is not needed. */
static int device_open(struct inode *inode, struct file *file)
{
	file->private_data = NULL;
	return 0;
}

static ssize_t device_read(struct file *file, char __user *to, size_t bytes, loff_t *at)
{
	return file == READ_ONCE(owner) ? edc_rings_read(to, bytes) : edc_recorder_read(file, to, bytes);
}

static __poll_t device_poll(struct file *file, struct poll_table_struct *wait)
{
	return file == READ_ONCE(owner) ? edc_rings_poll(file, wait) : edc_recorder_poll(file, wait);
}

static int device_release(struct inode *inode, struct file *file)
{
	static const struct edc_device_matcher no_matcher;

	edc_recorder_release(file);
	edc_program_release(file);
	mutex_lock(&card_lock);
	if (owner == file) {
		detach_all();
		edc_match_set(&no_matcher);
		edc_rings_free();
		WRITE_ONCE(owner, NULL);
	}
	mutex_unlock(&card_lock);
	return 0;
}

static const struct file_operations device_operations = {
	.owner = THIS_MODULE,
	.open = device_open,
	.read = device_read,
	.poll = device_poll,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = device_mmap,
	.release = device_release,
	.llseek = noop_llseek,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "monitor",
	.fops = &device_operations,
	.mode = 0600,
};

int edc_device_register(void)
{
	return misc_register(&device);
}

void edc_device_unregister(void)
{
	misc_deregister(&device);
}
