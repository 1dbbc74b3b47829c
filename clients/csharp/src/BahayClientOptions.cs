#nullable enable

using System;

namespace Bahay.Client
{
    /// <summary>The options of a <see cref="BahayClient"/>.</summary>
    public sealed class BahayClientOptions
    {
        /// <summary>Creates the options of a client of one installation.</summary>
        /// <param name="address">The server's origin, such as <c>https://house.example</c>.</param>
        /// <param name="secrets">The storage of the device's secret and of the session's tokens.</param>
        public BahayClientOptions(string address, ISecretStore secrets)
        {
            Address = address;
            Secrets = secrets;
        }

        /// <summary>The server's origin, such as <c>https://house.example</c>.</summary>
        public string Address { get; }

        /// <summary>The storage of the device's secret and of the session's tokens.</summary>
        public ISecretStore Secrets { get; }

        /// <summary>The name of a new guest, of 2 to 20 characters; null for one of the server's choice.</summary>
        public string? Name { get; set; }

        /// <summary>The message forms to offer, of which the server takes the shortest; empty for all.</summary>
        public MessageForm[] Forms { get; set; } = Array.Empty<MessageForm>();

        /// <summary>Stores the table at every change, so that a restarted app shows it at once.</summary>
        public bool StoresTable { get; set; }

        /// <summary>Reads the player's wallet after each connection and each settlement.</summary>
        public bool FollowsWallet { get; set; }

        /// <summary>
        /// Wakes the client when the machine's addresses change. Unity does not report such changes on phones: an app
        /// sets this to false there, and calls <see cref="BahayClient.NetworkChanged"/>.
        /// </summary>
        public bool FollowsNetwork { get; set; } = true;

        /// <summary>Receives faults of the storage and of the library, for a log; it may run on any thread.</summary>
        public Action<string>? Log { get; set; }
    }
}
