/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* devices.h - the devices that every program expects in /dev
 *
 * Source: OCI runtime specification, config-linux.md, "Default Devices".
 * Layer:  steps; includes base/ and model/ only; called from engine/plan_child.c only.
 */
#pragma once

struct err;

/* Fills the empty /dev of the root with null, zero, full, random, urandom, tty and the usual
 * links.  The devices are bound from the host: mknod(2) is refused in a user namespace. */
int devices_make(int root, struct err *e);
