using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.Json;

namespace Bahay.Client.Tests
{
    // The network of a tape: it performs the client's effects, and passes it what arrives.
    internal sealed partial class TapePlayer
    {
        private const long PingIds = 1_000_000;
        private const ushort Abnormal = 1006;
        private const string TokenPrefix = "bahay.token.";

        private readonly TokenServer _tokens = new TokenServer();
        private readonly Queue<ClientInput> _inputs = new Queue<ClientInput>();
        private readonly List<ulong> _waiting = new List<ulong>();
        private readonly Dictionary<ulong, List<JsonElement>> _requests = new Dictionary<ulong, List<JsonElement>>();
        private readonly Queue<ClientNotification.Ended> _ended = new Queue<ClientNotification.Ended>();
        private Queue<JsonElement> _sent = new Queue<JsonElement>();
        private string _net = "up";
        private string _player = "";
        private ulong _wishes;
        private ulong? _socket;
        private ulong? _before;
        private bool _isStale;
        private bool _dropsRefreshAnswer;

        private void PerformWish(JsonElement wish, JsonElement line)
        {
            string type = wish.Get("type").Text();
            if (type == "start")
            {
                _player = line.Get("player").Text();
                Push(new ClientInput.Start());
                return;
            }
            if (type == "wake")
            {
                Push(new ClientInput.Wake());
                return;
            }
            _wishes += 1;
            Push(new ClientInput.Command(_wishes, type switch
            {
                "ready" when wish.Get("text").IsGiven() => new PlayerWish.Ready(new SeedChoice.Chosen(wish.Get("text").Text())),
                "ready" => new PlayerWish.Ready(new SeedChoice.None()),
                "act" => new PlayerWish.Act(wish.Get("action").GetRawText()),
                "leave" => new PlayerWish.Leave(),
                _ => throw new TapeException($"an unknown wish: {type}"),
            }));
        }

        private void SetNetwork(string net)
        {
            _net = net;
            _isStale |= net == "dead";
        }

        private void ExpectConnection(long withinMs)
        {
            long endMs = _nowMs + withinMs;
            for (;;)
            {
                if (_waiting.Count == 0)
                {
                    AdvanceToNextTimer(endMs);
                    continue;
                }
                ulong socket = _waiting[^1];
                _waiting.RemoveAt(_waiting.Count - 1);
                OpenSocket(socket);
                while (_sent.Count == 0 && _socket == socket) AdvanceToNextTimer(endMs);
                // The socket was opened into a dead network, and abandoned before a token arrived.
                if (_sent.Count == 0) continue;
                JsonElement first = _sent.Dequeue();
                Check.Same("first command", first.Get("type").Text() + first.Get("id").Text(), "authenticate0");
                if (_tokens.IsValid(first.Get("token").Text())) return;
                _sent.Clear();
                JsonElement refusal = Json.From(new
                {
                    type = "refusal",
                    id = 0,
                    code = "token_expired",
                    detail = "the access token has expired; use the refresh token",
                    retryable = false,
                });
                Push(Encode.Received(socket, refusal, _form));
                if (_socket == socket) CloseSocket(4401);
            }
        }

        private void OpenSocket(ulong socket)
        {
            _before = _socket ?? _before;
            _socket = socket;
            _isStale = false;
            if (_requests.Remove(socket, out List<JsonElement>? commands)) commands.ForEach(_sent.Enqueue);
            Push(new ClientInput.Opened(socket, _form));
        }

        private void Deliver(JsonElement line)
        {
            ulong? socket = line.Get("on").Text() == "before" ? _before : _socket;
            if (socket == null)
            {
                Check.That(line.Get("on").IsGiven(), "there is no connection");
                return;
            }
            TableSnapshot? table = _core.Table();
            string link = Link;
            Push(line.Get("heard").IsGiven()
                ? (ClientInput)new ClientInput.ReceivedText(socket.Value, line.Get("heard").Text())
                : new ClientInput.ReceivedBinary(socket.Value, ReadHex(line.Get("bytes").Text())));
            if (!line.Get("on").IsGiven()) return;
            Check.Same("the table after a message of an old connection", _core.Table(), table);
            Check.Same("the link after a message of an old connection", Link, link);
        }

        private void CloseSocket(ushort code)
        {
            ulong socket = _socket ?? throw new TapeException("there is no connection");
            _before = socket;
            _socket = null;
            Push(new ClientInput.Closed(socket, code));
        }

        /// <summary>Handles an input. An input caused by an effect waits until all effects of its input are performed.</summary>
        private void Push(ClientInput input)
        {
            _inputs.Enqueue(input);
            if (_inputs.Count > 1) return;
            while (_inputs.Count > 0)
            {
                long nowMs = _nowMs + _aheadMs;
                HandledInput handled = _core.HandleInput(new ClientTime(nowMs, nowMs + _wallAheadMs), _inputs.Peek());
                _timeoutMs = handled.TimeoutMs;
                foreach (ClientEffect effect in handled.Effects) Perform(effect);
                _inputs.Dequeue();
            }
        }

        private void Perform(ClientEffect effect)
        {
            switch (effect)
            {
                case ClientEffect.Open open when _net == "down" || _net == "portal":
                    Push(new ClientInput.Closed(open.Socket, Abnormal));
                    break;
                case ClientEffect.Open open:
                    _waiting.Add(open.Socket);
                    _requests[open.Socket] = ReadRequest(open);
                    break;
                case ClientEffect.Close close:
                    _waiting.Remove(close.Socket);
                    if (_socket != close.Socket) break;
                    _before = _socket;
                    _socket = null;
                    break;
                case ClientEffect.Send send:
                    ReceiveCommand(send.Socket, Json.Parse(send.Text));
                    break;
                case ClientEffect.Request request:
                    Answer(request);
                    break;
                case ClientEffect.Notify { Notification: ClientNotification.Ended ended }:
                    _ended.Enqueue(ended);
                    break;
            }
        }

        private void ReceiveCommand(ulong socket, JsonElement command)
        {
            if (command.Get("type").Text() == "ping")
            {
                long id = command.Get("id").GetInt64();
                Check.That(id >= PingIds, "the id of a ping is at least a million");
                if (_net == "up" && !_isStale && _socket == socket) Push(Encode.Ack(socket, id, _form));
                return;
            }
            Check.That(_socket == socket, $"sent on another connection: {command}");
            _sent.Enqueue(command);
        }

        private void Answer(ClientEffect.Request request)
        {
            switch (_net)
            {
                // A request into a dead network has no answer; the client's own timeout ends it.
                case "dead":
                    return;
                case "down":
                    Push(new ClientInput.Unanswered(request.Number));
                    return;
                case "portal":
                    Push(new ClientInput.Answered(request.Number, 200, "text/html", "<html>", null));
                    return;
            }
            JsonElement body = Json.Parse(request.Body ?? "{}");
            (ushort status, string answer) = new Uri(request.Url).AbsolutePath switch
            {
                "/v1/token/refresh" => _tokens.RefreshTokens(body, _nowMs),
                "/v1/sign-in/guest" => _tokens.SignIn(body, _player, _nowMs),
                _ => throw new TapeException($"an unexpected request: {request.Url}"),
            };
            bool isLost = _dropsRefreshAnswer && request.Url.EndsWith("/refresh", StringComparison.Ordinal);
            if (isLost) _dropsRefreshAnswer = false;
            string type = status == 200 ? "application/json" : "application/problem+json";
            Push(isLost
                ? (ClientInput)new ClientInput.Unanswered(request.Number)
                : new ClientInput.Answered(request.Number, status, type, answer, null));
        }

        /// <summary>Returns the commands within a request for a socket, as a server reads them.</summary>
        private static List<JsonElement> ReadRequest(ClientEffect.Open open)
        {
            var commands = new List<JsonElement>();
            string? token = open.Protocols.FirstOrDefault(name => name.StartsWith(TokenPrefix, StringComparison.Ordinal));
            if (token != null)
            {
                commands.Add(Json.From(new { type = "authenticate", token = token.Substring(TokenPrefix.Length), id = 0 }));
            }
            var join = new Dictionary<string, object> { ["id"] = 1 };
            foreach (string pair in new Uri(open.Url).Query.TrimStart('?').Split('&'))
            {
                string[] parts = pair.Split('=', 2);
                if (parts.Length < 2) continue;
                string value = Uri.UnescapeDataString(parts[1]);
                join[parts[0]] = parts[0] == "from" ? (object)long.Parse(value) : value;
            }
            if (join.ContainsKey("type")) commands.Add(Json.From(join));
            return commands;
        }

        private static byte[] ReadHex(string digits) =>
            Enumerable.Range(0, digits.Length / 2).Select(place => Convert.ToByte(digits.Substring(2 * place, 2), 16)).ToArray();
    }
}
