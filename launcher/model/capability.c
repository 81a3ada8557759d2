/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/capability.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"

/* In the order of their numbers, linux/capability.h. */
static const char *const names[] = {
	"chown",
	"dac_override",
	"dac_read_search",
	"fowner",
	"fsetid",
	"kill",
	"setgid",
	"setuid",
	"setpcap",
	"linux_immutable",
	"net_bind_service",
	"net_broadcast",
	"net_admin",
	"net_raw",
	"ipc_lock",
	"ipc_owner",
	"sys_module",
	"sys_rawio",
	"sys_chroot",
	"sys_ptrace",
	"sys_pacct",
	"sys_admin",
	"sys_boot",
	"sys_nice",
	"sys_resource",
	"sys_time",
	"sys_tty_config",
	"mknod",
	"lease",
	"audit_write",
	"audit_control",
	"setfcap",
	"mac_override",
	"mac_admin",
	"syslog",
	"wake_alarm",
	"block_suspend",
	"audit_read",
	"perfmon",
	"bpf",
	"checkpoint_restore",
};

int capability_parse(const char *name, uint64_t *ret_bits, struct err *e)
{
	const char *word = strncasecmp(name, "CAP_", 4) == 0 ? name + 4 : name;

	if (strcasecmp(name, "ALL") == 0) {
		*ret_bits = CAPABILITY_ALL;
		return 0;
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcasecmp(word, names[i]) == 0) {
			*ret_bits = CAPABILITY_BIT(i);
			return 0;
		}
	return err_set(e, EINVAL, "'%s' is not a capability", name);
}

const char *capability_name(unsigned int number, char text[static CAPABILITY_TEXT])
{
	if (number >= sizeof names / sizeof *names)
		return NULL;
	snprintf(text, CAPABILITY_TEXT, "CAP_%s", names[number]);
	for (char *c = text; *c != '\0'; c++)
		*c = (char)toupper((unsigned char)*c);
	return text;
}
