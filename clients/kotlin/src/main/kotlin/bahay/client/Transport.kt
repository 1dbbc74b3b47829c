package bahay.client

/** The network of the platform: HTTP requests and WebSockets. Callbacks may come on any thread. */
public interface Transport {
    /** Sends a request, without following redirects. A response calls [HttpCallback.answered], anything else `failed`. */
    public fun request(
        method: String,
        url: String,
        headers: Map<String, String>,
        body: String?,
        callback: HttpCallback,
    )

    /** Opens a socket that offers these subprotocols. */
    public fun open(url: String, protocols: List<String>, callback: SocketCallback): Socket

    /** Ends the network's own threads and connections. */
    public fun shutdown() {}
}

public interface HttpCallback {
    public fun answered(status: Int, contentType: String?, retryAfter: String?, body: String)

    public fun failed()
}

public interface SocketCallback {
    /** The socket is open; the subprotocol is empty if none was negotiated. */
    public fun opened(protocol: String)

    public fun receivedText(text: String)

    public fun receivedBinary(bytes: ByteArray)

    /** The socket was closed with this code, or failed with 1006. Nothing is called afterwards. */
    public fun closed(code: Int)
}

/** A socket, open or not. */
public interface Socket {
    public fun send(text: String)

    public fun close()
}
