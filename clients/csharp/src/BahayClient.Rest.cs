#nullable enable

using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Bahay.Client
{
    // Requests to the REST API, which openapi.yaml describes. They never fail: without an answer the code is
    // `unreachable`. The core authenticates them, and repeats a GET whose answer is lost.
    public sealed partial class BahayClient
    {
        /// <summary>The time for which a request for a seat waits until the socket is open.</summary>
        private static readonly TimeSpan SocketTimeout = TimeSpan.FromSeconds(10);

        /// <summary>Performs an operation.</summary>
        /// <param name="method">The method in capitals, such as <c>GET</c>.</param>
        /// <param name="path">The path with its query, such as <c>/v1/me/wallet</c>.</param>
        /// <param name="body">The body as JSON; null without one.</param>
        /// <param name="headers">Further headers, such as <c>idempotency-key</c>.</param>
        /// <param name="isOpen">True if the operation needs no authentication.</param>
        public Task<CallAnswer> CallAsync(
            string method,
            string path,
            string? body = null,
            Dictionary<string, string>? headers = null,
            bool isOpen = false)
        {
            headers ??= new Dictionary<string, string>();
            return _driver.CallAsync(number => new ClientInput.Call(number, method, path, headers, body, isOpen));
        }

        /// <summary>Opens a practice table, with bots and without coins, and joins it.</summary>
        public Task<CallAnswer> PractiseAsync(string kind) =>
            TakeSeatByAsync("/v1/practice-tables", $"{{\"kind\":{Quote(kind)}}}");

        /// <summary>Takes a seat in a room at once, and joins its table.</summary>
        public Task<CallAnswer> TakeSeatAsync(string room) =>
            TakeSeatByAsync($"/v1/rooms/{Uri.EscapeDataString(room)}/seat", null);

        /// <summary>Opens a private table by a body as JSON, and joins it.</summary>
        public Task<CallAnswer> OpenPrivateTableAsync(string body) => TakeSeatByAsync("/v1/private-tables", body);

        /// <summary>Takes a seat at a private table, and joins it.</summary>
        public Task<CallAnswer> TakePrivateSeatAsync(string code) =>
            TakeSeatByAsync($"/v1/private-tables/{Uri.EscapeDataString(code)}/seat", null);

        /// <summary>Takes a seat at the rematch of a finished game, which the first request opens, and joins it.</summary>
        public Task<CallAnswer> RematchAsync(string game) =>
            TakeSeatByAsync($"/v1/games/{Uri.EscapeDataString(game)}/rematch", null);

        /// <summary>Signs in with a password or an external account.</summary>
        /// <param name="path"><c>/v1/sign-in/password</c> or <c>/v1/sign-in/openid</c>.</param>
        /// <param name="body">The body as a JSON object, to which the device's id is added.</param>
        public Task<CallAnswer> SignInAsync(string path, string body) =>
            _driver.CallAsync(number => new ClientInput.SignIn(number, path, body));

        /// <summary>Ends the session at the server, forgets the player, and stops.</summary>
        public async Task<CallAnswer> SignOutAsync()
        {
            CallAnswer answer = await CallAsync("POST", "/v1/sign-out").ConfigureAwait(false);
            if (answer is CallAnswer.Ok) Forget();
            return answer;
        }

        /// <summary>
        /// Requests a seat, and joins. The server keeps a seat only for a player whose socket is open, so without one
        /// this waits for the socket and repeats the request.
        /// </summary>
        private async Task<CallAnswer> TakeSeatByAsync(string path, string? body)
        {
            CallAnswer answer = await CallAsync("POST", path, body).ConfigureAwait(false);
            if (answer is CallAnswer.Refused { Code: "socket_required" })
            {
                await WaitForSocketAsync().ConfigureAwait(false);
                answer = await CallAsync("POST", path, body).ConfigureAwait(false);
            }
            if (answer is CallAnswer.Ok) _driver.Handle(new ClientInput.Join());
            return answer;
        }

        /// <summary>Returns once the socket is open, or after <see cref="SocketTimeout"/>.</summary>
        private async Task WaitForSocketAsync()
        {
            using var timeout = new CancellationTokenSource(SocketTimeout);
            try
            {
                await foreach (ScreenModel screen in ScreensAsync(timeout.Token).ConfigureAwait(false))
                {
                    if (screen.Link is "joining" or "live" or "weak") return;
                }
            }
            catch (OperationCanceledException)
            {
                // The second request states the refusal.
            }
        }

        /// <summary>Returns a text as JSON.</summary>
        private static string Quote(string text)
        {
            var quoted = new StringBuilder("\"");
            foreach (char one in text)
            {
                if (one is '"' or '\\') quoted.Append('\\').Append(one);
                else if (one < ' ') quoted.Append("\\u").Append(((int)one).ToString("x4", CultureInfo.InvariantCulture));
                else quoted.Append(one);
            }
            return quoted.Append('"').ToString();
        }
    }
}
