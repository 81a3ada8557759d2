// SPDX-License-Identifier: LGPL-2.1-or-later

// Prints the monotonic clock of Go's runtime, waits 100 ms on a timer, prints it again.
package main

import (
	"fmt"
	"time"
	_ "unsafe"
)

// What package time itself reads; it goes through the runtime's own vDSO code.
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64

func main() {
	before := nanotime()
	<-time.After(100 * time.Millisecond)
	fmt.Println(before, nanotime())
}
