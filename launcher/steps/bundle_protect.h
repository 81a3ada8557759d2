/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bundle_protect.h - what a bundle wants hidden or kept from changes, after all mounts
 *
 * Paths are opened beneath the root and kept open, as mount targets are.  What covers a file is the
 * host's /dev/null: the image's may be anything, and may be swapped while we look (CVE-2025-31133).
 *
 * Source: OCI runtime specification, config-linux.md, "Masked Paths", "Readonly Paths".
 * Layer:  steps; includes base/ and model/ only; called from engine/bundle_child.c only.
 */
#pragma once

struct bundle;
struct err;

/* Covers the masked paths and makes others read-only; those that are not there are skipped. */
int bundle_protect(int root, const struct bundle *bundle, struct err *e);
