using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.Json;

namespace Bahay.Client.Tests
{
    /// <summary>
    /// Plays a tape against the core (clients/tapes/README.md): provides the clock, the network and the server's side
    /// of the connection, and compares the client's commands and state with those of the tape.
    /// </summary>
    internal sealed partial class TapePlayer
    {
        /// <summary>The client's clocks minus the server's; the client has to determine it.</summary>
        private const long AheadMs = 5_000_000;

        /// <summary>The bound of timer runs before the next line, far more than any client needs.</summary>
        private const int RunsMax = 100_000;

        /// <summary>The permitted error of the client's server time once it is current.</summary>
        private const long ClockMs = 1_000;

        private readonly string _form;
        private readonly PlayerClient _core;
        private long _nowMs;
        private long _atMs;
        private long _aheadMs = AheadMs;
        private long _wallAheadMs;
        private long? _timeoutMs;
        private bool _isAsleep;
        private bool _stops;

        private TapePlayer(JsonElement header)
        {
            Check.Same("the tape's version", header.Get("tape").Text(), "2");
            _form = header.Get("form").Text();
            var options = new ClientOptions(
                "http://tape",
                Enumerable.Repeat((byte)1, 32).ToArray(),
                null,
                Array.Empty<StoredValue>(),
                Array.Empty<MessageForm>(),
                false,
                false);
            _core = new PlayerClient(options, new ClientTime(AheadMs, AheadMs));
        }

        /// <summary>The number of states that were compared.</summary>
        private int Shows { get; set; }

        /// <summary>Plays a tape, and returns the number of compared states.</summary>
        /// <exception cref="TapeException">The client deviates from the tape, at the named line.</exception>
        internal static int Play(string path)
        {
            string[] lines = File.ReadAllLines(path);
            var player = new TapePlayer(Json.Parse(lines[0]));
            for (int place = 1; place < lines.Length; place += 1)
            {
                try
                {
                    player.PlayLine(Json.Parse(lines[place]));
                }
                catch (TapeException deviation)
                {
                    throw new TapeException($"line {place + 1}: {deviation.Message}\n{lines[place]}");
                }
            }
            player.CheckNothingPending();
            player._core.Dispose();
            return player.Shows;
        }

        private void PlayLine(JsonElement line)
        {
            if (!line.Get("at").IsGiven())
            {
                CheckExpectation(line);
                return;
            }
            CheckNothingPending();
            _atMs = line.Get("at").GetInt64();
            AdvanceTo(_atMs);
            ApplyEvent(line);
        }

        private void ApplyEvent(JsonElement line)
        {
            if (line.Get("do").IsGiven()) PerformWish(line.Get("do"), line);
            else if (line.Get("enter").IsGiven()) ExpectConnection(line.Get("enter").Get("within").GetInt64());
            else if (line.Get("heard").IsGiven() || line.Get("bytes").IsGiven()) Deliver(line);
            else if (line.Get("close").IsGiven()) CloseSocket(line.Get("close").GetUInt16());
            else if (line.Get("net").IsGiven()) SetNetwork(line.Get("net").Text());
            else if (line.Get("noticed").IsGiven()) Check.That(Link != "live", "the dead connection is not noticed");
            else if (line.Get("clock").IsGiven()) _wallAheadMs += line.Get("clock").GetInt64();
            else if (line.Get("refresh").Text() == "unanswered") _dropsRefreshAnswer = true;
            else if (line.Get("refresh").IsGiven()) _tokens.RefreshElsewhere(_nowMs);
            else if (line.Get("sleep").IsGiven()) FallAsleep(line.Get("stops").Text() == "True");
            else if (line.Get("expire").IsGiven()) _tokens.ExpireAll();
            else if (line.Get("link").IsGiven()) Check.Same("link", Link, line.Get("link").Text());
            else throw new TapeException("an unknown line");
        }

        private void CheckExpectation(JsonElement line)
        {
            if (line.Get("send").IsGiven())
            {
                Check.SameJson("command", _sent.Count > 0 ? _sent.Dequeue() : default, line.Get("send"));
            }
            else if (line.Get("show").IsGiven())
            {
                Shows += 1;
                Check.SameJson("shown", DescribeTable(), line.Get("show"));
            }
            else if (line.Get("current").IsGiven())
            {
                Check.That(_core.Table() is { IsCurrent: true }, "the table is not current");
                CheckClock();
            }
            else if (line.Get("unseated").IsGiven())
            {
                Check.That(_core.Table() == null, "the table is still shown");
            }
            else if (line.Get("end").IsGiven())
            {
                JsonElement found = default;
                if (_ended.Count > 0)
                {
                    ClientNotification.Ended ended = _ended.Dequeue();
                    found = Json.From(new { wish = ended.Command, outcome = NameOf(ended.Outcome) });
                }
                Check.SameJson("ended", found, line.Get("end"));
            }
            else
            {
                throw new TapeException("an unknown line");
            }
        }

        /// <summary>The state of the connection as one word.</summary>
        private string Link => _core.Screen(_nowMs + _aheadMs).Link;

        private JsonElement DescribeTable()
        {
            TableSnapshot table = _core.Table() ?? throw new TapeException("no table is shown");
            JsonElement shown = Json.Parse($"{{\"view\":{table.View},\"prompt\":{table.Prompt ?? "null"}}}");
            return Json.From(new { version = table.Version, tag = table.Tag, digest = Json.Digest(shown) });
        }

        private void CheckNothingPending()
        {
            Check.That(_sent.Count == 0, $"also sent: {string.Join(" ", _sent)}");
            Check.That(_ended.Count == 0, $"also ended: {string.Join(" ", _ended)}");
        }

        /// <summary>Checks the client's server time, unless the line was played late.</summary>
        private void CheckClock()
        {
            if (_nowMs - _atMs >= ClockMs) return;
            long offMs = _core.ServerTimeMs(_nowMs + _aheadMs) - _nowMs;
            Check.That(Math.Abs(offMs) <= ClockMs, $"the client's server time is off by {offMs} ms");
        }

        private void FallAsleep(bool stops)
        {
            _isAsleep = true;
            _isStale = true;
            _stops = stops;
        }

        /// <summary>Advances time with the client's timers, unless the client sleeps.</summary>
        private void AdvanceTo(long atMs)
        {
            if (_isAsleep)
            {
                long sleptMs = Math.Max(0, atMs - _nowMs);
                _nowMs += sleptMs;
                if (_stops)
                {
                    _aheadMs -= sleptMs;
                    _wallAheadMs += sleptMs;
                }
            }
            _isAsleep = false;
            for (int runs = 0; NextTimer is { } nextMs && nextMs <= atMs; runs += 1)
            {
                Check.That(runs < RunsMax, "the client's timers do not end");
                _nowMs = Math.Max(_nowMs, nextMs);
                Push(new ClientInput.Timeout());
            }
            _nowMs = Math.Max(_nowMs, atMs);
        }

        /// <summary>Advances to the next timer, which must be due by a time.</summary>
        private void AdvanceToNextTimer(long endMs)
        {
            long nextMs = NextTimer ?? long.MaxValue;
            Check.That(nextMs <= endMs, $"the client did not connect in time: {Link}");
            AdvanceTo(nextMs);
        }

        private long? NextTimer => _timeoutMs - _aheadMs;

        private static string NameOf(CommandOutcome outcome) => outcome switch
        {
            CommandOutcome.Done _ => "done",
            CommandOutcome.Overtaken _ => "overtaken",
            _ => outcome.ToString(),
        };
    }
}
