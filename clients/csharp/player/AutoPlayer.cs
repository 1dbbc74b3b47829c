using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.Json;
using System.Threading.Tasks;

namespace Bahay.Client.Player
{
    /// <summary>Plays by itself: it is ready for every game, and answers each prompt once, with the first legal action.</summary>
    public sealed class AutoPlayer
    {
        private readonly BahayClient _client;
        private readonly HashSet<string> _answered = new HashSet<string>();

        /// <summary>Plays with a client, which the caller starts.</summary>
        public AutoPlayer(BahayClient client) => _client = client;

        /// <summary>Is called for each notification, before the player answers.</summary>
        public Action<ClientNotification>? Observe { get; set; }

        /// <summary>Is called for each settlement, with the event <c>over</c> of asyncapi.yaml.</summary>
        public Action<JsonElement>? Settle { get; set; }

        /// <summary>Plays until the cancellation, or until the client is disposed of.</summary>
        public async Task PlayAsync(IAsyncEnumerable<ClientNotification> notifications)
        {
            await foreach (ClientNotification notification in notifications.ConfigureAwait(false))
            {
                Observe?.Invoke(notification);
                if (notification is ClientNotification.Table table) FindSettlements(table.Events);
                // Also after a notification of the link: the table may have become current without another change.
                Answer();
            }
        }

        private void FindSettlements(string[] events)
        {
            foreach (string text in events)
            {
                using JsonDocument one = JsonDocument.Parse(text);
                if (one.RootElement.GetProperty("type").GetString() == "over") Settle?.Invoke(one.RootElement);
            }
        }

        private void Answer()
        {
            if (!(_client.Table is { IsCurrent: true } table)) return;
            using JsonDocument view = JsonDocument.Parse(table.View);
            JsonElement phase = view.RootElement.GetProperty("phase");
            string type = phase.GetProperty("type").GetString() ?? "";
            if (type == "preparing" && IsNew($"ready {phase.GetProperty("game")}")) _ = _client.ReadyAsync();
            if (table.Prompt == null) return;
            using JsonDocument prompt = JsonDocument.Parse(table.Prompt);
            JsonElement question = prompt.RootElement;
            JsonElement first = question.GetProperty("legal").EnumerateArray().FirstOrDefault();
            if (first.ValueKind == JsonValueKind.Undefined) return;
            if (IsNew($"{question.GetProperty("game")} {question.GetProperty("number")}"))
            {
                _ = _client.ActAsync(first.GetRawText());
            }
        }

        /// <summary>Returns whether a question is seen for the first time.</summary>
        private bool IsNew(string question) => _answered.Add(question);
    }
}
