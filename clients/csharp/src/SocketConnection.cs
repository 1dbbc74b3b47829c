#nullable enable

using System;
using System.IO;
using System.Net.WebSockets;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Bahay.Client
{
    /// <summary>One socket of the client. It reports what happens to it until it is closed.</summary>
    internal sealed class SocketConnection
    {
        /// <summary>The close code of a connection that ended without one.</summary>
        private const ushort Abnormal = 1006;

        /// <summary>A longer message ends the connection. The server's are far shorter.</summary>
        private const int MessageBytesMax = 16 << 20;

        /// <summary>The time for which a closed socket waits for the server's close frame.</summary>
        private const int CloseMs = 2_000;

        private readonly ClientWebSocket _socket = new ClientWebSocket();
        private readonly CancellationTokenSource _ending = new CancellationTokenSource();
        private readonly ulong _number;
        private readonly Action<ClientInput> _report;
        private Task _sending = Task.CompletedTask;
        private volatile bool _isClosed;

        /// <summary>Opens a socket, and offers the subprotocols.</summary>
        internal SocketConnection(ulong number, string url, string[] protocols, Action<ClientInput> report)
        {
            _number = number;
            _report = report;
            // The core pings by itself, and a connection attempt must not hold up the queue.
            _socket.Options.KeepAliveInterval = TimeSpan.Zero;
            _ = Task.Run(() => RunAsync(url, protocols));
        }

        /// <summary>Sends a text after those before it. If it cannot be sent, the end of the socket is reported.</summary>
        internal void Send(string text)
        {
            byte[] bytes = Encoding.UTF8.GetBytes(text);
            lock (_socket) _sending = SendAfterAsync(_sending, bytes);
        }

        /// <summary>Closes the socket, open or not. Nothing is reported afterwards.</summary>
        internal void Close()
        {
            _isClosed = true;
            _ = CloseAsync();
        }

        private async Task RunAsync(string url, string[] protocols)
        {
            ushort code = Abnormal;
            try
            {
                foreach (string protocol in protocols) _socket.Options.AddSubProtocol(protocol);
                await _socket.ConnectAsync(new Uri(url), _ending.Token).ConfigureAwait(false);
                Report(new ClientInput.Opened(_number, _socket.SubProtocol ?? ""));
                code = await ReceiveAsync().ConfigureAwait(false);
            }
            catch (Exception)
            {
                // The core needs the code alone: a socket that failed is opened again.
            }
            Report(new ClientInput.Closed(_number, code));
            await CloseAsync().ConfigureAwait(false);
            _socket.Dispose();
        }

        /// <summary>Reports messages until the server closes the socket, and returns the code.</summary>
        private async Task<ushort> ReceiveAsync()
        {
            var buffer = new ArraySegment<byte>(new byte[16 << 10]);
            using var message = new MemoryStream();
            for (;;)
            {
                WebSocketReceiveResult part = await _socket.ReceiveAsync(buffer, _ending.Token).ConfigureAwait(false);
                if (part.MessageType == WebSocketMessageType.Close)
                {
                    return (ushort)(part.CloseStatus ?? WebSocketCloseStatus.Empty);
                }
                message.Write(buffer.Array!, 0, part.Count);
                if (message.Length > MessageBytesMax) throw new InvalidDataException("the message is too long");
                if (!part.EndOfMessage) continue;
                byte[] bytes = message.ToArray();
                message.SetLength(0);
                Report(part.MessageType == WebSocketMessageType.Text
                    ? (ClientInput)new ClientInput.ReceivedText(_number, Encoding.UTF8.GetString(bytes))
                    : new ClientInput.ReceivedBinary(_number, bytes));
            }
        }

        private async Task SendAfterAsync(Task before, byte[] bytes)
        {
            await before.ConfigureAwait(false);
            try
            {
                var frame = new ArraySegment<byte>(bytes);
                await _socket.SendAsync(frame, WebSocketMessageType.Text, true, _ending.Token).ConfigureAwait(false);
            }
            catch (Exception)
            {
                // The receiver reports the end of the socket.
            }
        }

        private async Task CloseAsync()
        {
            try
            {
                if (_socket.State is WebSocketState.Open or WebSocketState.CloseReceived)
                {
                    _ending.CancelAfter(CloseMs);
                    Task sending;
                    lock (_socket) sending = _sending;
                    await sending.ConfigureAwait(false);
                    await _socket.CloseOutputAsync(WebSocketCloseStatus.NormalClosure, "", _ending.Token)
                        .ConfigureAwait(false);
                }
                else
                {
                    _ending.Cancel();
                }
            }
            catch (Exception)
            {
                // The socket has ended in the meantime.
            }
        }

        private void Report(ClientInput input)
        {
            if (!_isClosed) _report(input);
        }
    }
}
