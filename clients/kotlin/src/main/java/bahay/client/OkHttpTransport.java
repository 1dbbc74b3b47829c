package bahay.client;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import okhttp3.Call;
import okhttp3.Callback;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import okhttp3.WebSocket;
import okhttp3.WebSocketListener;
import okio.ByteString;

/**
 * The network by OkHttp 3.12 or later. It is Java, because the same source then compiles with every version of OkHttp.
 */
public final class OkHttpTransport implements Transport {
    /** The client no longer waits for a request after 12 s. */
    private static final long REQUEST_SECONDS = 15;

    private final OkHttpClient http;

    public OkHttpTransport() {
        this(new OkHttpClient());
    }

    /** Uses the connections and the threads of another client. */
    public OkHttpTransport(OkHttpClient client) {
        http = client.newBuilder()
            .followRedirects(false)
            .followSslRedirects(false)
            .retryOnConnectionFailure(false)
            .connectTimeout(REQUEST_SECONDS, TimeUnit.SECONDS)
            .readTimeout(REQUEST_SECONDS, TimeUnit.SECONDS)
            .build();
    }

    @Override
    public void request(
        String method, String url, Map<String, String> headers, String body, HttpCallback callback) {
        Request request;
        try {
            Request.Builder builder = new Request.Builder().url(url);
            headers.forEach(builder::header);
            boolean needsBody = method.equals("POST") || method.equals("PUT") || method.equals("PATCH");
            String text = body == null && needsBody ? "" : body;
            // The media type is in the headers.
            byte[] bytes = text == null ? null : text.getBytes(StandardCharsets.UTF_8);
            request = builder.method(method, bytes == null ? null : RequestBody.create(null, bytes)).build();
        } catch (IllegalArgumentException malformed) {
            callback.failed();
            return;
        }
        http.newCall(request).enqueue(new Callback() {
            @Override
            public void onFailure(Call call, IOException error) {
                callback.failed();
            }

            @Override
            public void onResponse(Call call, Response response) {
                try (response) {
                    String text = response.body().string();
                    String type = response.header("content-type");
                    callback.answered(response.code(), type, response.header("retry-after"), text);
                } catch (IOException interrupted) {
                    callback.failed();
                }
            }
        });
    }

    @Override
    public Socket open(String url, List<String> protocols, SocketCallback callback) {
        Request request;
        try {
            Request.Builder builder = new Request.Builder().url(url);
            if (!protocols.isEmpty()) {
                builder.header("Sec-WebSocket-Protocol", String.join(", ", protocols));
            }
            request = builder.build();
        } catch (IllegalArgumentException malformed) {
            callback.closed(1006);
            return new ClosedSocket();
        }
        Listener listener = new Listener(callback);
        return new RequestedSocket(http.newWebSocket(request, listener), listener);
    }

    @Override
    public void shutdown() {
        http.dispatcher().executorService().shutdown();
        http.connectionPool().evictAll();
    }

    /** Reports the events of a socket, and its end once. */
    private static final class Listener extends WebSocketListener {
        private final SocketCallback callback;
        private final AtomicBoolean isClosed = new AtomicBoolean();
        private volatile boolean isOpen;

        Listener(SocketCallback callback) {
            this.callback = callback;
        }

        @Override
        public void onOpen(WebSocket socket, Response response) {
            isOpen = true;
            String protocol = response.header("Sec-WebSocket-Protocol");
            callback.opened(protocol == null ? "" : protocol);
        }

        @Override
        public void onMessage(WebSocket socket, String text) {
            callback.receivedText(text);
        }

        @Override
        public void onMessage(WebSocket socket, ByteString bytes) {
            callback.receivedBinary(bytes.toByteArray());
        }

        @Override
        public void onClosing(WebSocket socket, int code, String reason) {
            socket.cancel();
            end(code);
        }

        @Override
        public void onFailure(WebSocket socket, Throwable error, Response response) {
            if (response != null) {
                response.close();
            }
            end(1006);
        }

        private void end(int code) {
            if (isClosed.compareAndSet(false, true)) {
                callback.closed(code);
            }
        }
    }

    private static final class RequestedSocket implements Socket {
        private static final int NORMAL = 1000;

        private final WebSocket socket;
        private final Listener listener;

        RequestedSocket(WebSocket socket, Listener listener) {
            this.socket = socket;
            this.listener = listener;
        }

        @Override
        public void send(String text) {
            socket.send(text);
        }

        @Override
        public void close() {
            // A socket that is not open yet cannot be closed in order.
            if (!listener.isOpen || !socket.close(NORMAL, null)) {
                socket.cancel();
            }
        }
    }

    private static final class ClosedSocket implements Socket {
        @Override
        public void send(String text) {}

        @Override
        public void close() {}
    }
}
