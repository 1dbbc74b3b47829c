import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request of the core.
struct HttpRequest {
    let number: UInt64
    let method: String
    let url: String
    let headers: [String: String]
    let body: String?
}

/// Sends the client's requests. A redirect is an answer as any other, because an intermediary may have sent it.
final class HttpSender: NSObject, URLSessionTaskDelegate {
    /// The time after which the core no longer waits for an answer, in seconds.
    private static let timeout: TimeInterval = 12

    private lazy var session: URLSession = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = HttpSender.timeout
        configuration.timeoutIntervalForResource = HttpSender.timeout
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        return URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
    }()

    /// Sends a request, and passes on the input that states its end.
    func send(_ request: HttpRequest, report: @escaping (ClientInput) -> Void) {
        guard let url = URL(string: request.url) else { return report(.unanswered(request: request.number)) }
        var message = URLRequest(url: url)
        message.httpMethod = request.method
        message.httpBody = request.body.map { Data($0.utf8) }
        if request.body != nil { message.setValue("application/json", forHTTPHeaderField: "content-type") }
        for (name, value) in request.headers { message.setValue(value, forHTTPHeaderField: name) }
        let task = session.dataTask(with: message) { data, response, _ in
            guard let response = response as? HTTPURLResponse, let data else {
                return report(.unanswered(request: request.number))
            }
            report(.answered(
                request: request.number,
                status: UInt16(clamping: response.statusCode),
                contentType: response.value(forHTTPHeaderField: "content-type"),
                body: String(decoding: data, as: UTF8.self),
                retryAfterMs: HttpSender.readRetryAfter(response.value(forHTTPHeaderField: "retry-after"))
            ))
        }
        task.resume()
    }

    /// Ends all requests.
    func close() {
        session.invalidateAndCancel()
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    /// Returns the delay in milliseconds; nil for a date, which this server does not send.
    private static func readRetryAfter(_ header: String?) -> UInt64? {
        header.flatMap { UInt64($0.trimmingCharacters(in: .whitespaces)) }.map { $0.multipliedReportingOverflow(by: 1_000) }
            .flatMap { $0.overflow ? nil : $0.partialValue }
    }
}
