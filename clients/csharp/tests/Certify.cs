using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Net.Http;
using System.Text;
using System.Text.Json;
using System.Threading.Tasks;
using Bahay.Client.Player;

namespace Bahay.Client.Tests
{
    /// <summary>
    /// Plays at every scenario of <c>bahay-lab certify</c> (docs/CERTIFY.md) by the layer, over real sockets, and
    /// reports what it shows.
    /// </summary>
    internal static class Certify
    {
        /// <summary>The number of versions between two reports of the view.</summary>
        private const long ReportEvery = 6;

        private const int PollMs = 500;
        private const string Announcement = "scenarios: ";

        private static readonly HttpClient Http = new HttpClient();

        /// <summary>
        /// Certifies by a program, which is started, or at the address of a certification that runs. Returns the exit
        /// code of the program.
        /// </summary>
        internal static async Task<int> RunAsync(string target)
        {
            if (target.StartsWith("http", StringComparison.Ordinal))
            {
                await PlayAllAsync(target);
                return 0;
            }
            var start = new ProcessStartInfo(target, "certify --listen 127.0.0.1:0 --seconds 180")
            {
                RedirectStandardError = true,
                UseShellExecute = false,
            };
            // The libraries that this program is started with are not those of the other one.
            start.Environment.Remove("LD_LIBRARY_PATH");
            using Process lab = Process.Start(start);
            Task playing = Task.CompletedTask;
            while (await lab.StandardError.ReadLineAsync() is { } line)
            {
                if (line.StartsWith(Announcement, StringComparison.Ordinal))
                {
                    playing = PlayAllAsync(line.Substring(Announcement.Length).Replace("/certify", ""));
                }
                else
                {
                    Console.Error.WriteLine(line);
                }
            }
            lab.WaitForExit();
            await playing;
            return lab.ExitCode;
        }

        /// <summary>Plays at every scenario, until each has its verdict.</summary>
        private static async Task PlayAllAsync(string index)
        {
            MessageForm[] forms = Enum.GetValues(typeof(MessageForm)).Cast<MessageForm>().ToArray();
            List<JsonElement> scenarios = await ListAsync(index);
            List<BahayClient> clients = scenarios
                .Select((scenario, place) => Play(scenario.Get("url").Text(), forms[place % forms.Length]))
                .ToList();
            while ((await ListAsync(index)).Any(scenario => !scenario.Get("verdict").IsGiven())) await Task.Delay(PollMs);
            clients.ForEach(client => client.Dispose());
        }

        /// <summary>Returns the scenarios; none once the certification has ended.</summary>
        private static async Task<List<JsonElement>> ListAsync(string index)
        {
            try
            {
                return Json.Parse(await Http.GetStringAsync($"{index}/certify")).Get("scenarios").EnumerateArray().ToList();
            }
            catch (HttpRequestException)
            {
                return new List<JsonElement>();
            }
        }

        /// <summary>Plays at a scenario until the client is disposed of.</summary>
        private static BahayClient Play(string address, MessageForm form)
        {
            var options = new BahayClientOptions(address, new MemorySecretStore())
            {
                Name = "Certified",
                Forms = new[] { form },
                FollowsNetwork = false,
                Log = Console.Error.WriteLine,
            };
            var client = new BahayClient(options);
            long reported = 0;
            var player = new AutoPlayer(client)
            {
                Observe = notification =>
                {
                    if (notification is ClientNotification.Deal deal)
                    {
                        Report(address, new { deals = new[] { new { game = deal.Game, holds = deal.Holds } } });
                    }
                    else if (notification is ClientNotification.Table && client.Table is { } table
                        && Math.Abs((long)table.Version - reported) >= ReportEvery)
                    {
                        reported = (long)table.Version;
                        Report(address, new { version = table.Version, view = Json.Parse(table.View) });
                    }
                },
            };
            IAsyncEnumerable<ClientNotification> notifications = client.NotificationsAsync();
            client.Start();
            _ = PlayAsync(player, notifications);
            return client;
        }

        private static async Task PlayAsync(AutoPlayer player, IAsyncEnumerable<ClientNotification> notifications)
        {
            try
            {
                await player.PlayAsync(notifications);
            }
            catch (Exception fault)
            {
                Console.Error.WriteLine(fault);
            }
        }

        private static async void Report(string address, object body)
        {
            try
            {
                using var content = new StringContent(JsonSerializer.Serialize(body), Encoding.UTF8, "application/json");
                using HttpResponseMessage answer = await Http.PostAsync($"{address}/certify/shown", content);
            }
            catch (HttpRequestException)
            {
                // A report is lost with the end of the scenario.
            }
        }
    }
}
