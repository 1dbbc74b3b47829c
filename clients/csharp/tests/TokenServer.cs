using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.Json;

namespace Bahay.Client.Tests
{
    /// <summary>The server's side of the session in a tape: sign-in and refresh with tokens of its own.</summary>
    internal sealed class TokenServer
    {
        private const long TokenMs = 15 * 60_000;

        /// <summary>The time for which a used refresh token returns the same successor.</summary>
        private const long ReuseMs = 60_000;

        private readonly HashSet<string> _validTokens = new HashSet<string>();
        private readonly List<Refresh> _refreshes = new List<Refresh>();

        internal bool IsValid(string access) => _validTokens.Contains(access);

        /// <summary>Refuses all access tokens that were issued before.</summary>
        internal void ExpireAll() => _validTokens.Clear();

        /// <summary>Has another holder of the session use the newest refresh token.</summary>
        internal void RefreshElsewhere(long nowMs) => Renew(_refreshes[^1].Token, nowMs);

        /// <summary>Returns the answer to a sign-in: the status and the body.</summary>
        internal (ushort Status, string Body) SignIn(JsonElement body, string player, long nowMs)
        {
            Check.That(body.Get("device_id").Text().Length >= 16, "a device id is too short");
            Dictionary<string, object> tokens = Issue(nowMs);
            tokens["player"] = new { id = player, name = "player" };
            return (200, JsonSerializer.Serialize(tokens));
        }

        /// <summary>Returns the answer to a refresh.</summary>
        internal (ushort Status, string Body) RefreshTokens(JsonElement body, long nowMs)
        {
            string token = body.Get("refresh_token").Text();
            Refresh? given = Find(token);
            bool isYoung = given != null && nowMs - given.GivenAtMs < ReuseMs && IsValid(given.Access);
            Check.That(!isYoung, "a token that is seconds old was renewed");
            return Renew(token, nowMs) is { } successor
                ? ((ushort)200, JsonSerializer.Serialize(successor))
                : ((ushort)401, "{\"code\":\"refresh_token_reused\",\"detail\":\"\"}");
        }

        /// <summary>Returns the successor of a token, repeatedly for a time; null if it was used long ago.</summary>
        private Dictionary<string, object>? Renew(string token, long nowMs)
        {
            Refresh refresh = Find(token) ?? throw new TapeException($"an unknown refresh token: {token}");
            if (refresh.UsedAtMs is { } usedAtMs && nowMs - usedAtMs > ReuseMs) return null;
            if (refresh.Successor != null) return refresh.Successor;
            refresh.UsedAtMs = nowMs;
            refresh.Successor = Issue(nowMs);
            return refresh.Successor;
        }

        private Refresh? Find(string token) => _refreshes.FirstOrDefault(one => one.Token == token);

        private Dictionary<string, object> Issue(long nowMs)
        {
            int number = _refreshes.Count + 1;
            var refresh = new Refresh($"refresh {number}", $"access {number}", nowMs);
            _validTokens.Add(refresh.Access);
            _refreshes.Add(refresh);
            return new Dictionary<string, object>
            {
                ["access_token"] = refresh.Access,
                ["access_expires_at"] = TimeOf(nowMs + TokenMs),
                ["refresh_token"] = refresh.Token,
                ["refresh_expires_at"] = TimeOf(nowMs + 100 * TokenMs),
                ["session"] = "session",
            };
        }

        private static string TimeOf(long ms) =>
            DateTimeOffset.FromUnixTimeMilliseconds(ms).ToString("yyyy-MM-ddTHH:mm:ss.fffZ");

        private sealed class Refresh
        {
            internal Refresh(string token, string access, long givenAtMs)
            {
                Token = token;
                Access = access;
                GivenAtMs = givenAtMs;
            }

            internal string Token { get; }

            internal string Access { get; }

            internal long GivenAtMs { get; }

            internal long? UsedAtMs { get; set; }

            internal Dictionary<string, object>? Successor { get; set; }
        }
    }
}
