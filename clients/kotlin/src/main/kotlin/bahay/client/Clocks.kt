package bahay.client

import uniffi.bahay_client.ClientTime

/** The clocks of the platform. */
public fun interface Clocks {
    /**
     * Returns the present time by both clocks. On Android the monotonic clock is `SystemClock.elapsedRealtime`, which
     * goes on in sleep.
     */
    public fun now(): ClientTime
}

/** The clocks of the Java virtual machine. */
public object JvmClocks : Clocks {
    override fun now(): ClientTime =
        ClientTime(nowMs = System.nanoTime() / 1_000_000, wallMs = System.currentTimeMillis())
}
