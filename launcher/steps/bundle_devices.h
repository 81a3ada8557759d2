/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bundle_devices.h - the device nodes of a bundle, and its terminal
 *
 * Source: OCI runtime specification, config-linux.md, "Devices" and "Default Devices"; pts(4).
 * Layer:  steps; includes base/ and model/ only; called from engine/bundle_*.c only.
 */
#pragma once

struct bundle;
struct err;

/* Makes the devices of the bundle, the default ones and the usual links in /dev.  Where mknod(2)
 * is refused, as in a user namespace, the node is bound from the host. */
int bundle_devices_make(int root, const struct bundle *bundle, struct err *e);

/* Opens a new terminal in the /dev/pts of the root.  Its other end becomes ours: standard
 * streams, controlling terminal (we must lead a session) and /dev/console. */
int bundle_terminal_open(int root, const struct bundle *bundle, int *ret_terminal, struct err *e);
