// SPDX-License-Identifier: LGPL-2.1-or-later
/** Prints System.nanoTime(), waits 100 ms for a lock, prints it again. */
public class Clock {
    public static void main(String[] args) throws InterruptedException {
        Object lock = new Object();
        long before = System.nanoTime();
        synchronized (lock) {
            lock.wait(100);
        }
        System.out.println(before + " " + System.nanoTime());
    }
}
