#nullable enable

using System;
using System.Collections.Generic;
using System.Net.NetworkInformation;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Bahay.Client
{
    /// <summary>
    /// A player's client: signs in, stays connected, follows the player's table and sends commands so that none is lost
    /// or applied twice. It may be used on any thread. Amounts of coins are in hundredths, times in milliseconds.
    /// </summary>
    public sealed partial class BahayClient : IDisposable
    {
        private readonly Feed<ClientNotification> _notifications = new Feed<ClientNotification>();
        private readonly Feed<bool> _changes = new Feed<bool>();
        private readonly ClientDriver _driver;
        private readonly bool _followsNetwork;

        /// <summary>Creates a client that is off.</summary>
        public BahayClient(BahayClientOptions options)
        {
            _driver = new ClientDriver(options, _notifications.Publish, () => _changes.Publish(true));
            _followsNetwork = options.FollowsNetwork;
            if (_followsNetwork) NetworkChange.NetworkAddressChanged += OnNetworkAddressChanged;
        }

        /// <summary>Everything that an app shows, at this moment.</summary>
        public ScreenModel Screen => _driver.Core.Screen(ClientDriver.NowMs);

        /// <summary>The player's table as JSON, for apps that draw a game by themselves.</summary>
        public TableSnapshot? Table => _driver.Core.Table();

        /// <summary>The watched table as JSON.</summary>
        public TableSnapshot? Watched => _driver.Core.Watched();

        /// <summary>The id of the player who is signed in.</summary>
        public string? PlayerId => _driver.Core.PlayerId();

        /// <summary>The server's time, in milliseconds since 1970-01-01 UTC, in which deadlines are given.</summary>
        public long ServerTimeMs => _driver.Core.ServerTimeMs(ClientDriver.NowMs);

        /// <summary>
        /// Signs in, connects, and stays connected. It also takes over from a newer connection, and signs in again
        /// after the end of a session.
        /// </summary>
        public void Start() => _driver.Handle(new ClientInput.Start());

        /// <summary>Closes the connection, and drops open commands.</summary>
        public void Stop() => _driver.Handle(new ClientInput.Stop());

        /// <summary>Checks the connection at once: the app is visible again.</summary>
        public void Wake() => _driver.Handle(new ClientInput.Wake());

        /// <summary>Checks the connection at once: the network has returned, or is another one.</summary>
        public void NetworkChanged() => Wake();

        /// <summary>Forgets the player, and stops. The next start signs in a new guest.</summary>
        public void Forget() => _driver.Handle(new ClientInput.Forget());

        /// <summary>Returns the reason for which the server would refuse an action now; null if it is legal.</summary>
        /// <exception cref="ClientException.NotAnAction">The text is no action of the table's game.</exception>
        public ActionRefusalModel? FindRefusal(string action) => _driver.Core.FindRefusal(action);

        /// <summary>
        /// Subscribes now, and returns each later notification in order. Those that are not read stay in memory until
        /// the subscription is cancelled.
        /// </summary>
        public IAsyncEnumerable<ClientNotification> NotificationsAsync(CancellationToken cancellation = default) =>
            _notifications.Subscribe(false, cancellation);

        /// <summary>
        /// Subscribes now, and returns the screen, and then after each change the newest one. A countdown runs between
        /// changes: an app that draws each frame reads <see cref="Screen"/> instead.
        /// </summary>
        public IAsyncEnumerable<ScreenModel> ScreensAsync(CancellationToken cancellation = default) =>
            ReadScreensAsync(_changes.Subscribe(true, cancellation));

        /// <summary>Stops the client and frees it. Open commands are dropped, open calls are unreachable.</summary>
        public void Dispose()
        {
            if (_followsNetwork) NetworkChange.NetworkAddressChanged -= OnNetworkAddressChanged;
            _driver.Dispose();
            _notifications.End();
            _changes.End();
        }

        private async IAsyncEnumerable<ScreenModel> ReadScreensAsync(
            IAsyncEnumerable<bool> changes,
            [EnumeratorCancellation] CancellationToken cancellation = default)
        {
            yield return Screen;
            await foreach (bool _ in changes.WithCancellation(cancellation).ConfigureAwait(false)) yield return Screen;
        }

        private void OnNetworkAddressChanged(object? sender, EventArgs change) => NetworkChanged();
    }
}
