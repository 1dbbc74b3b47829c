using System;
using System.Collections.Generic;
using System.IO;
using System.Threading;
using System.Threading.Tasks;

namespace Bahay.Client.Tests
{
    /// <summary>The tests of the layer that need no server.</summary>
    internal static class LayerTests
    {
        /// <summary>An address where nothing listens.</summary>
        private const string Nowhere = "http://127.0.0.1:1";

        internal static IEnumerable<(string Name, Func<Task> Test)> All => new (string, Func<Task>)[]
        {
            ("a file store returns what it has saved", FileStoreReturnsWhatItHasSaved),
            ("a new client creates and stores its device", StartStoresDevice),
            ("a second client of an installation keeps the device", SecondClientKeepsDevice),
            ("a call without a network is unreachable", CallWithoutNetworkIsUnreachable),
            ("a text that is no action is refused", TextThatIsNoActionIsRefused),
            ("a command without a prompt is dropped", CommandWithoutPromptIsDropped),
            ("disposal ends open commands, calls and subscriptions", DisposalEndsEverything),
            ("a cancelled subscription ends", CancelledSubscriptionEnds),
            ("a fault of the storage is logged, and the client goes on", StorageFaultIsLogged),
        };

        private static Task FileStoreReturnsWhatItHasSaved()
        {
            string folder = Path.Combine(Path.GetTempPath(), Path.GetRandomFileName());
            try
            {
                var store = new FileSecretStore(folder);
                Check.Same("a missing value", store.Load(StoredKey.Session), null);
                store.Save(StoredKey.Session, "first");
                store.Save(StoredKey.Session, "second ₱");
                store.Save(StoredKey.Device, "device");
                Check.Same("a replaced value", new FileSecretStore(folder).Load(StoredKey.Session), "second ₱");
                store.Save(StoredKey.Session, null);
                Check.Same("a removed value", store.Load(StoredKey.Session), null);
                Check.Same("another value", store.Load(StoredKey.Device), "device");
            }
            finally
            {
                Directory.Delete(folder, true);
            }
            return Task.CompletedTask;
        }

        private static Task StartStoresDevice()
        {
            var secrets = new MemorySecretStore();
            using var client = new BahayClient(new BahayClientOptions(Nowhere, secrets));
            client.Start();
            Check.That(secrets.Load(StoredKey.Device) is { Length: >= 16 }, "no device is stored");
            return Task.CompletedTask;
        }

        private static Task SecondClientKeepsDevice()
        {
            var secrets = new MemorySecretStore();
            using (var first = new BahayClient(new BahayClientOptions(Nowhere, secrets))) first.Start();
            string? device = secrets.Load(StoredKey.Device);
            using (var second = new BahayClient(new BahayClientOptions(Nowhere, secrets))) second.Start();
            Check.Same("the device", secrets.Load(StoredKey.Device), device);
            return Task.CompletedTask;
        }

        private static async Task CallWithoutNetworkIsUnreachable()
        {
            using var client = NewClient();
            CallAnswer answer = await client.CallAsync("POST", "/v1/rooms", isOpen: true);
            Check.Same("the code", (answer as CallAnswer.Refused)?.Code, "unreachable");
        }

        private static async Task TextThatIsNoActionIsRefused()
        {
            using var client = NewClient();
            try
            {
                await client.ActAsync("{\"type\":\"none\"}");
            }
            catch (ClientException.NotAnAction)
            {
                return;
            }
            throw new TapeException("the text counts as an action");
        }

        private static async Task CommandWithoutPromptIsDropped()
        {
            using var client = NewClient();
            client.Start();
            Check.Same("the outcome", await client.ReadyAsync(), new CommandOutcome.Dropped());
        }

        private static async Task DisposalEndsEverything()
        {
            var client = NewClient();
            client.Start();
            IAsyncEnumerable<ClientNotification> notifications = client.NotificationsAsync();
            Task<CommandOutcome> search = client.SeekAsync("room");
            Task<CallAnswer> call = client.CallAsync("GET", "/v1/me");
            client.Dispose();
            Check.Same("the search", await search, new CommandOutcome.Dropped());
            Check.Same("the call", (await call as CallAnswer.Refused)?.Code, "unreachable");
            Check.Same("a later command", await client.ReadyAsync(), new CommandOutcome.Dropped());
            int ended = 0;
            await foreach (ClientNotification one in notifications)
            {
                if (one is ClientNotification.Ended) ended += 1;
            }
            Check.Same("the number of ended commands", ended, 1);
        }

        private static async Task CancelledSubscriptionEnds()
        {
            using var client = NewClient();
            using var cancellation = new CancellationTokenSource();
            int screens = 0;
            try
            {
                await foreach (ScreenModel screen in client.ScreensAsync(cancellation.Token))
                {
                    Check.Same("the link", screen.Link, "off");
                    screens += 1;
                    cancellation.Cancel();
                }
            }
            catch (OperationCanceledException)
            {
                Check.Same("the number of screens", screens, 1);
                return;
            }
            throw new TapeException("the subscription has ended without a cancellation");
        }

        private static async Task StorageFaultIsLogged()
        {
            var lines = new List<string>();
            var options = new BahayClientOptions(Nowhere, new FullStore()) { Log = lines.Add };
            using var client = new BahayClient(options);
            client.Start();
            Check.That(lines.Count > 0 && lines[0].Contains("Device"), "the fault is not logged");
            Check.Same("the outcome", await client.ReadyAsync(), new CommandOutcome.Dropped());
        }

        private static BahayClient NewClient() => new BahayClient(new BahayClientOptions(Nowhere, new MemorySecretStore()));

        private sealed class FullStore : ISecretStore
        {
            public string? Load(StoredKey key) => null;

            public void Save(StoredKey key, string? value) => throw new IOException("no space is left");
        }
    }
}
