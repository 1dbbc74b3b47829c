#nullable enable

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Security.Cryptography;
using System.Threading;
using System.Threading.Tasks;

namespace Bahay.Client
{
    /// <summary>
    /// Drives the core: passes it each input with the time, and performs its effects in order, one input after the
    /// other.
    /// </summary>
    internal sealed class ClientDriver : IDisposable
    {
        private const int RandomBytes = 32;
        private const string Unreachable = "unreachable";

        private readonly ISecretStore _secrets;
        private readonly Action<string>? _log;
        private readonly Action<ClientNotification> _notify;
        private readonly Action _reportChange;
        private readonly SerialQueue _queue;
        private readonly HttpSender _http = new HttpSender();
        private readonly Dictionary<ulong, SocketConnection> _sockets = new Dictionary<ulong, SocketConnection>();
        private readonly Dictionary<ulong, TaskCompletionSource<CommandOutcome>> _commands =
            new Dictionary<ulong, TaskCompletionSource<CommandOutcome>>();
        private readonly Dictionary<ulong, TaskCompletionSource<CallAnswer>> _calls =
            new Dictionary<ulong, TaskCompletionSource<CallAnswer>>();
        private readonly Timer _timer;
        private long _numbers;
        private bool _isDisposed;

        /// <summary>Creates the driver of a client that is off.</summary>
        /// <param name="options">The options of the app.</param>
        /// <param name="notify">Receives each notification, in order.</param>
        /// <param name="reportChange">Is called after each input, after which the screen may be another one.</param>
        internal ClientDriver(BahayClientOptions options, Action<ClientNotification> notify, Action reportChange)
        {
            _secrets = options.Secrets;
            _log = options.Log;
            _notify = notify;
            _reportChange = reportChange;
            _queue = new SerialQueue(fault => _log?.Invoke(fault.ToString()));
            _timer = new Timer(_ => Handle(new ClientInput.Timeout()));
            Core = new PlayerClient(ToCoreOptions(options), Now());
        }

        /// <summary>The core. Its inputs belong to this driver; its state may be read on any thread.</summary>
        internal PlayerClient Core { get; }

        /// <summary>The milliseconds of the monotonic clock.</summary>
        internal static long NowMs => (long)(Stopwatch.GetTimestamp() * (1_000.0 / Stopwatch.Frequency));

        /// <summary>Passes an input to the core.</summary>
        internal void Handle(ClientInput input) => _queue.Add(() => HandleNow(input));

        /// <summary>Passes the player's wish to the core, and returns its outcome.</summary>
        /// <exception cref="ClientException">The wish names an action, a phrase or a table that cannot exist.</exception>
        internal Task<CommandOutcome> SendAsync(PlayerWish wish)
        {
            return RegisterAsync(_commands, new CommandOutcome.Dropped(), number => new ClientInput.Command(number, wish));
        }

        /// <summary>Passes a request of the caller to the core, and returns its answer.</summary>
        internal Task<CallAnswer> CallAsync(Func<ulong, ClientInput> toInput) =>
            RegisterAsync(_calls, UnreachableAnswer(), toInput);

        /// <summary>Closes all sockets, and ends what is open: commands as dropped, calls as unreachable.</summary>
        public void Dispose() => _queue.Add(() =>
        {
            if (_isDisposed) return;
            HandleNow(new ClientInput.Stop());
            _isDisposed = true;
            _timer.Dispose();
            foreach (SocketConnection socket in _sockets.Values) socket.Close();
            foreach (var command in _commands.Values) command.TrySetResult(new CommandOutcome.Dropped());
            foreach (var call in _calls.Values) call.TrySetResult(UnreachableAnswer());
            _http.Dispose();
            Core.Dispose();
        });

        private static CallAnswer UnreachableAnswer() => new CallAnswer.Refused(0, Unreachable, "", null);

        private static ClientTime Now() => new ClientTime(NowMs, DateTimeOffset.UtcNow.ToUnixTimeMilliseconds());

        private static ClientOptions ToCoreOptions(BahayClientOptions options)
        {
            var seed = new byte[RandomBytes];
            RandomNumberGenerator.Fill(seed);
            var stored = Enum.GetValues(typeof(StoredKey)).Cast<StoredKey>()
                .Select(key => (key, value: options.Secrets.Load(key)))
                .Where(one => one.value != null)
                .Select(one => new StoredValue(one.key, one.value!));
            return new ClientOptions(
                options.Address,
                seed,
                options.Name,
                stored.ToArray(),
                options.Forms,
                options.StoresTable,
                options.FollowsWallet);
        }

        /// <summary>
        /// Gives the caller's request a number, and passes it to the core. If the core refuses it, the task fails; after
        /// <see cref="Dispose"/> it ends with <paramref name="ended"/>.
        /// </summary>
        private Task<T> RegisterAsync<T>(
            Dictionary<ulong, TaskCompletionSource<T>> open,
            T ended,
            Func<ulong, ClientInput> toInput)
        {
            // The caller continues on a thread of its own, not on the queue.
            var source = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
            var number = (ulong)Interlocked.Increment(ref _numbers);
            _queue.Add(() =>
            {
                if (_isDisposed)
                {
                    source.TrySetResult(ended);
                    return;
                }
                open[number] = source;
                try
                {
                    HandleNow(toInput(number));
                }
                catch (Exception fault)
                {
                    open.Remove(number);
                    source.TrySetException(fault);
                }
            });
            return source.Task;
        }

        private void HandleNow(ClientInput input)
        {
            if (_isDisposed) return;
            HandledInput handled = Core.HandleInput(Now(), input);
            foreach (ClientEffect effect in handled.Effects) Perform(effect);
            SetTimer(handled.TimeoutMs);
            _reportChange();
        }

        private void Perform(ClientEffect effect)
        {
            switch (effect)
            {
                case ClientEffect.Request request:
                    _ = AnswerAsync(request);
                    break;
                case ClientEffect.Open open:
                    _sockets[open.Socket] = new SocketConnection(open.Socket, open.Url, open.Protocols, Handle);
                    break;
                case ClientEffect.Send send:
                    if (_sockets.TryGetValue(send.Socket, out SocketConnection? used)) used.Send(send.Text);
                    break;
                case ClientEffect.Close close:
                    if (_sockets.Remove(close.Socket, out SocketConnection? closed)) closed.Close();
                    break;
                case ClientEffect.Store store:
                    Store(store.Key, store.Value);
                    break;
                case ClientEffect.Notify { Notification: ClientNotification.Ended ended }:
                    _notify(ended);
                    if (_commands.Remove(ended.Command, out var command)) command.TrySetResult(ended.Outcome);
                    break;
                case ClientEffect.Notify notify:
                    _notify(notify.Notification);
                    break;
                case ClientEffect.Called called:
                    if (_calls.Remove(called.Call, out var call)) call.TrySetResult(called.Answer);
                    break;
            }
        }

        private async Task AnswerAsync(ClientEffect.Request request) =>
            Handle(await _http.SendAsync(request).ConfigureAwait(false));

        private void Store(StoredKey key, string? value)
        {
            try
            {
                _secrets.Save(key, value);
            }
            catch (Exception fault)
            {
                // A full or forbidden storage costs a sign-in after the next start, and must not end the game.
                _log?.Invoke($"{key} is not stored: {fault.Message}");
            }
        }

        private void SetTimer(long? timeoutMs)
        {
            long ms = timeoutMs == null ? Timeout.Infinite : Math.Min(int.MaxValue, Math.Max(0, timeoutMs.Value - NowMs));
            _timer.Change(ms, Timeout.Infinite);
        }
    }
}
