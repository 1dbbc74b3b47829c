using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using System.Text.Json;

namespace Bahay.Client.Tests
{
    /// <summary>Encodes messages that have the same fields in each of the server's forms.</summary>
    internal static class Encode
    {
        private const string Full = "bahay.v1";
        private const string Compact = "bahay.v1.compact";

        /// <summary>Returns the input by which a socket receives the answer to a command of this id.</summary>
        internal static ClientInput Ack(ulong socket, long id, string form) => form == Full
            ? new ClientInput.ReceivedText(socket, $"{{\"type\":\"ack\",\"id\":{id}}}")
            : Received(socket, Json.Parse($"[{id}]"), form);

        /// <summary>Returns the input by which a socket receives a message.</summary>
        internal static ClientInput Received(ulong socket, JsonElement message, string form)
        {
            if (form != Compact) return new ClientInput.ReceivedText(socket, message.GetRawText());
            var bytes = new List<byte>();
            Write(message, bytes);
            return new ClientInput.ReceivedBinary(socket, bytes.ToArray());
        }

        /// <summary>Appends a value in MessagePack.</summary>
        private static void Write(JsonElement value, List<byte> bytes)
        {
            switch (value.ValueKind)
            {
                case JsonValueKind.Object:
                    List<JsonProperty> fields = value.EnumerateObject().ToList();
                    WriteLength(0xde, fields.Count, bytes);
                    foreach (JsonProperty field in fields)
                    {
                        WriteText(field.Name, bytes);
                        Write(field.Value, bytes);
                    }
                    break;
                case JsonValueKind.Array:
                    WriteLength(0xdc, value.GetArrayLength(), bytes);
                    foreach (JsonElement item in value.EnumerateArray()) Write(item, bytes);
                    break;
                case JsonValueKind.Number:
                    bytes.Add(0xd3);
                    bytes.AddRange(BitConverter.GetBytes(value.GetInt64()).Reverse());
                    break;
                case JsonValueKind.String:
                    WriteText(value.GetString(), bytes);
                    break;
                case JsonValueKind.True:
                    bytes.Add(0xc3);
                    break;
                case JsonValueKind.False:
                    bytes.Add(0xc2);
                    break;
                default:
                    bytes.Add(0xc0);
                    break;
            }
        }

        private static void WriteText(string text, List<byte> bytes)
        {
            byte[] encoded = Encoding.UTF8.GetBytes(text);
            WriteLength(0xda, encoded.Length, bytes);
            bytes.AddRange(encoded);
        }

        private static void WriteLength(byte kind, int length, List<byte> bytes)
        {
            bytes.Add(kind);
            bytes.Add((byte)(length >> 8));
            bytes.Add((byte)length);
        }
    }
}
