using System;
using System.Collections.Generic;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;

namespace Bahay.Client.Tests
{
    /// <summary>JSON in the canonical form of the tapes.</summary>
    internal static class Json
    {
        private const int DigestChars = 16;

        // The form escapes nothing but what JSON must escape.
        private static readonly JsonSerializerOptions Plain =
            new JsonSerializerOptions { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

        internal static JsonElement Parse(string text)
        {
            using JsonDocument document = JsonDocument.Parse(text);
            return document.RootElement.Clone();
        }

        internal static JsonElement From(object value) => Parse(JsonSerializer.Serialize(value));

        /// <summary>Returns a field; an undefined element without one.</summary>
        internal static JsonElement Get(this JsonElement element, string field)
        {
            return element.ValueKind == JsonValueKind.Object && element.TryGetProperty(field, out JsonElement value)
                && value.ValueKind != JsonValueKind.Null ? value : default;
        }

        internal static bool IsGiven(this JsonElement element) => element.ValueKind != JsonValueKind.Undefined;

        internal static string Text(this JsonElement element) => element.IsGiven() ? element.ToString() : "";

        /// <summary>Returns canonical JSON: keys in order, no spaces, and no nulls in objects.</summary>
        internal static string Canonical(JsonElement value)
        {
            switch (value.ValueKind)
            {
                case JsonValueKind.Object:
                    IEnumerable<string> fields = value.EnumerateObject()
                        .Where(field => field.Value.ValueKind != JsonValueKind.Null)
                        .OrderBy(field => field.Name, StringComparer.Ordinal)
                        .Select(field => $"{JsonSerializer.Serialize(field.Name, Plain)}:{Canonical(field.Value)}");
                    return $"{{{string.Join(",", fields)}}}";
                case JsonValueKind.Array:
                    return $"[{string.Join(",", value.EnumerateArray().Select(Canonical))}]";
                case JsonValueKind.String:
                    return JsonSerializer.Serialize(value.GetString(), Plain);
                case JsonValueKind.Undefined:
                    return "null";
                default:
                    return value.GetRawText();
            }
        }

        /// <summary>Returns the digest of a value, as a tape names it.</summary>
        internal static string Digest(JsonElement value)
        {
            using SHA256 sha = SHA256.Create();
            byte[] hash = sha.ComputeHash(Encoding.UTF8.GetBytes(Canonical(value)));
            return BitConverter.ToString(hash).Replace("-", "").ToLowerInvariant().Substring(0, DigestChars);
        }
    }
}
