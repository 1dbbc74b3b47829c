import Foundation

/// Delivers elements to any number of subscribers, each of which reads them at its own pace.
final class Feed<Element> {
    private let lock = NSLock()
    private var subscribers: [Int: AsyncStream<Element>.Continuation] = [:]
    private var count = 0
    private var isFinished = false

    /// True if nobody reads.
    var isEmpty: Bool {
        lock.lock()
        defer { lock.unlock() }
        return subscribers.isEmpty
    }

    /// Subscribes now, and returns the later elements. The subscription ends with its task.
    func subscribe(_ policy: AsyncStream<Element>.Continuation.BufferingPolicy) -> AsyncStream<Element> {
        AsyncStream(Element.self, bufferingPolicy: policy) { continuation in
            lock.lock()
            defer { lock.unlock() }
            guard !isFinished else { return continuation.finish() }
            count += 1
            let number = count
            subscribers[number] = continuation
            continuation.onTermination = { [weak self] _ in self?.remove(number) }
        }
    }

    /// Adds an element for every present subscriber.
    func publish(_ element: Element) {
        for subscriber in present() { subscriber.yield(element) }
    }

    /// Ends all subscriptions once their elements are read.
    func finish() {
        lock.lock()
        isFinished = true
        lock.unlock()
        for subscriber in present() { subscriber.finish() }
    }

    /// Returns the subscribers. The end of one of them takes the lock, which therefore is not held while they run.
    private func present() -> [AsyncStream<Element>.Continuation] {
        lock.lock()
        defer { lock.unlock() }
        return Array(subscribers.values)
    }

    private func remove(_ number: Int) {
        lock.lock()
        defer { lock.unlock() }
        subscribers[number] = nil
    }
}
