import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One socket of the client. It reports what happens to it until it is closed.
final class SocketConnection: NSObject, URLSessionWebSocketDelegate {
    /// The close code of a connection that ended without one.
    private static let abnormal: UInt16 = 1006
    /// A longer message ends the connection. The server's are far shorter.
    private static let messageBytesMax = 16 << 20

    private let number: UInt64
    private let lock = NSLock()
    private var report: ((ClientInput) -> Void)?
    private var session: URLSession?
    private var task: URLSessionWebSocketTask?

    /// Opens a socket, and offers the subprotocols.
    init(number: UInt64, url: String, protocols: [String], report: @escaping (ClientInput) -> Void) {
        self.number = number
        self.report = report
        super.init()
        guard let url = URL(string: url) else { return end(SocketConnection.abnormal) }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        let task = session.webSocketTask(with: url, protocols: protocols)
        task.maximumMessageSize = SocketConnection.messageBytesMax
        self.session = session
        self.task = task
        task.resume()
    }

    /// Sends a text after those before it. If it cannot be sent, the end of the socket is reported.
    func send(_ text: String) {
        task?.send(.string(text)) { _ in }
    }

    /// Closes the socket, open or not. Nothing is reported afterwards.
    func close() {
        lock.lock()
        report = nil
        lock.unlock()
        task?.cancel(with: .normalClosure, reason: nil)
        session?.finishTasksAndInvalidate()
    }

    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didOpenWithProtocol selected: String?
    ) {
        pass(.opened(socket: number, protocol: selected ?? ""))
        receive(webSocketTask)
    }

    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
        reason: Data?
    ) {
        end(UInt16(clamping: closeCode.rawValue))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        end(SocketConnection.abnormal)
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

    /// Reports the next message, and those after it. A failure is followed by the end of the task.
    private func receive(_ task: URLSessionWebSocketTask) {
        task.receive { [weak self] result in
            guard let self, case .success(let message) = result else { return }
            switch message {
            case .string(let text): self.pass(.receivedText(socket: self.number, text: text))
            case .data(let bytes): self.pass(.receivedBinary(socket: self.number, bytes: bytes))
            @unknown default: break
            }
            self.receive(task)
        }
    }

    private func pass(_ input: ClientInput) {
        lock.lock()
        let report = self.report
        lock.unlock()
        report?(input)
    }

    /// Reports the end once.
    private func end(_ code: UInt16) {
        lock.lock()
        let report = self.report
        self.report = nil
        lock.unlock()
        report?(.closed(socket: number, code: code))
        session?.finishTasksAndInvalidate()
    }
}
