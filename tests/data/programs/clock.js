// SPDX-License-Identifier: LGPL-2.1-or-later
// Prints process.hrtime(), waits 100 ms on a timer, prints it again.
const before = process.hrtime.bigint();
setTimeout(() => console.log(`${before} ${process.hrtime.bigint()}`), 100);
