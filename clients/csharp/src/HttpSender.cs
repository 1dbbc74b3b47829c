#nullable enable

using System;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Bahay.Client
{
    /// <summary>Sends the client's requests. A redirect is an answer as any other, because an intermediary may have sent it.</summary>
    internal sealed class HttpSender : IDisposable
    {
        /// <summary>The time after which the core no longer waits for an answer.</summary>
        private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(12);

        private const long AnswerBytesMax = 16 << 20;

        private readonly HttpClient _http;

        internal HttpSender()
        {
            var handler = new HttpClientHandler { AllowAutoRedirect = false, UseCookies = false };
            _http = new HttpClient(handler) { Timeout = Timeout, MaxResponseContentBufferSize = AnswerBytesMax };
        }

        /// <summary>Sends a request, and returns the input that states its end.</summary>
        internal async Task<ClientInput> SendAsync(ClientEffect.Request request)
        {
            try
            {
                using HttpRequestMessage message = ToMessage(request);
                using HttpResponseMessage answer =
                    await _http.SendAsync(message, CancellationToken.None).ConfigureAwait(false);
                string body = await answer.Content.ReadAsStringAsync().ConfigureAwait(false);
                return new ClientInput.Answered(
                    request.Number,
                    (ushort)answer.StatusCode,
                    answer.Content.Headers.ContentType?.ToString(),
                    body,
                    ReadRetryAfter(answer.Headers.RetryAfter));
            }
            catch (Exception)
            {
                // Whatever has failed, there is no answer, and it is unknown whether the request took effect.
                return new ClientInput.Unanswered(request.Number);
            }
        }

        public void Dispose() => _http.Dispose();

        private static HttpRequestMessage ToMessage(ClientEffect.Request request)
        {
            var message = new HttpRequestMessage(new HttpMethod(request.Method), request.Url);
            if (request.Body != null)
            {
                message.Content = new ByteArrayContent(Encoding.UTF8.GetBytes(request.Body));
                message.Content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
            }
            foreach (var header in request.Headers)
            {
                if (header.Key.Equals("content-type", StringComparison.OrdinalIgnoreCase)) continue;
                message.Headers.TryAddWithoutValidation(header.Key, header.Value);
            }
            return message;
        }

        private static ulong? ReadRetryAfter(RetryConditionHeaderValue? header)
        {
            TimeSpan? delay = header?.Delta ?? header?.Date - DateTimeOffset.UtcNow;
            return delay == null ? (ulong?)null : (ulong)Math.Max(0, delay.Value.TotalMilliseconds);
        }
    }
}
