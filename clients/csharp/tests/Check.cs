using System;
using System.Text.Json;

namespace Bahay.Client.Tests
{
    /// <summary>The checks of the tests.</summary>
    internal static class Check
    {
        internal static void That(bool holds, string otherwise)
        {
            if (!holds) throw new TapeException(otherwise);
        }

        internal static void Same<T>(string subject, T found, T expected) =>
            That(Equals(found, expected), $"{subject}: expected {expected}, found {found}");

        internal static void SameJson(string subject, JsonElement found, JsonElement expected) =>
            Same(subject, Json.Canonical(found), Json.Canonical(expected));
    }

    /// <summary>A deviation from a tape or an expectation.</summary>
    internal sealed class TapeException : Exception
    {
        internal TapeException(string message)
            : base(message)
        {
        }
    }
}
