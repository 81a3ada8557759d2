/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* image_config.h - what an image says about how it is run
 *
 * Source: OCI image specification, config.md, "config": Entrypoint, Cmd, Env, WorkingDir, User.
 */
#pragma once

struct err;
struct request;

/* Takes the command from ROOTFS.config.json, which timens-rootfs keeps beside a root filesystem
 * that was pulled, and with it what the command line left open: environment, user, folder. */
int image_config_apply(struct request *q, struct err *e);
