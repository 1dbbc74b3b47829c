using System;
using System.Globalization;
using System.Linq;
using System.Text.Json;
using System.Threading;
using System.Threading.Tasks;

namespace Bahay.Client.Player
{
    /// <summary>
    /// Plays games as a guest, and prints each settlement as a line of JSON: at a practice table, or with
    /// <c>--room</c> at a table of a room.
    /// </summary>
    public static class Player
    {
        private const string Usage = "usage: player ADDRESS [--room ROOM] [--games N] [--kind KIND] [--name NAME] [--store FOLDER]";

        /// <summary>Runs the program. The exit code is 0 once the games are played.</summary>
        public static async Task<int> Main(string[] arguments)
        {
            string? Find(string option)
            {
                int place = Array.IndexOf(arguments, option);
                return place < 0 ? null : arguments.ElementAtOrDefault(place + 1);
            }

            if (arguments.Length == 0 || arguments[0].StartsWith("-", StringComparison.Ordinal))
            {
                Console.Error.WriteLine(Usage);
                return 2;
            }
            string? folder = Find("--store");
            ISecretStore secrets = folder == null ? (ISecretStore)new MemorySecretStore() : new FileSecretStore(folder);
            int games = int.Parse(Find("--games") ?? "1", CultureInfo.InvariantCulture);
            var options = new BahayClientOptions(arguments[0], secrets)
            {
                Name = Find("--name"),
                Log = Console.Error.WriteLine,
            };
            using var client = new BahayClient(options);
            using var played = new CancellationTokenSource();
            var player = new AutoPlayer(client)
            {
                Observe = notification =>
                {
                    if (notification is ClientNotification.Link { State: LinkState.SignedOut end })
                    {
                        Console.Error.WriteLine($"signed out: {end.Code} {end.Detail}");
                        played.Cancel();
                    }
                },
                Settle = over =>
                {
                    Console.WriteLine(Describe(client.Screen.Table, over));
                    games -= 1;
                    if (games == 0) played.Cancel();
                },
            };
            Task playing = player.PlayAsync(client.NotificationsAsync(played.Token));
            client.Start();
            if (await SitDownAsync(client, Find("--room"), Find("--kind") ?? "tongits").ConfigureAwait(false) is { } refusal)
            {
                Console.Error.WriteLine(refusal);
                return 1;
            }
            try
            {
                await playing.ConfigureAwait(false);
            }
            catch (OperationCanceledException)
            {
                // The games are played, or the session has ended.
            }
            if (games > 0) return 1;
            await client.LeaveAsync().ConfigureAwait(false);
            return 0;
        }

        /// <summary>Takes a seat in a room, or opens a practice table; returns the refusal.</summary>
        private static async Task<string?> SitDownAsync(BahayClient client, string? room, string kind)
        {
            Task<CallAnswer> seat = room == null ? client.PractiseAsync(kind) : client.TakeSeatAsync(room);
            CallAnswer answer = await seat.ConfigureAwait(false);
            return answer is CallAnswer.Refused refused ? $"no seat: {refused.Code} {refused.Detail}" : null;
        }

        private static string Describe(TableModel? table, JsonElement over) => JsonSerializer.Serialize(new
        {
            table = table?.Table,
            game = over.GetProperty("game"),
            settlement = over.GetProperty("settlement"),
        });
    }
}
