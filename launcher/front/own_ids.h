/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* own_ids.h - what our own user namespace has */
#pragma once

#include <stdbool.h>

#include "model/id_map.h"

/* The ids that our own user namespace has, each mapped to itself: all there are on a host, few in
 * a container.  Returns all where /proc does not tell; the kernel then refuses what does not exist.
 */
struct id_map own_users(void);
struct id_map own_groups(void);

/* May a process of our user namespace, and of those below, not call setgroups(2)? */
bool own_setgroups_denied(void);
