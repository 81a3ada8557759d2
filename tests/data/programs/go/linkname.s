// SPDX-License-Identifier: LGPL-2.1-or-later
// Empty: with an assembly file in the package, a function may have no body.
