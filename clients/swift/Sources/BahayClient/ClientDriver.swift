import Foundation

/// Drives the core: passes it each input with the time, and performs its effects in order, on one queue.
final class ClientDriver: @unchecked Sendable {
    private static let randomBytes = 32
    private static let unreachable = CallAnswer.refused(status: 0, code: "unreachable", detail: "", retryAfterMs: nil)

    /// The core. Its inputs belong to this driver; its state may be read on any thread.
    let core: PlayerClient

    private let secrets: SecretStore
    private let log: ((String) -> Void)?
    private let notify: (ClientNotification) -> Void
    private let reportChange: () -> Void
    private let queue = DispatchQueue(label: "bahay.client")
    private let timer: DispatchSourceTimer
    private let http = HttpSender()
    private var sockets: [UInt64: SocketConnection] = [:]
    private var commands: [UInt64: CheckedContinuation<CommandOutcome, Error>] = [:]
    private var calls: [UInt64: CheckedContinuation<CallAnswer, Never>] = [:]
    private var numbers: UInt64 = 0
    private var isEnded = false

    /// Creates the driver of a client that is off. `notify` receives each notification in order, and `reportChange` is
    /// called after each input.
    init(
        options: BahayClientOptions,
        notify: @escaping (ClientNotification) -> Void,
        reportChange: @escaping () -> Void
    ) throws {
        secrets = options.secrets
        log = options.log
        self.notify = notify
        self.reportChange = reportChange
        var generator = SystemRandomNumberGenerator()
        let seed = (0..<ClientDriver.randomBytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let stored = StoredKey.all.compactMap { entry in
            options.secrets.load(entry.key).map { StoredValue(key: entry.key, value: $0) }
        }
        core = try PlayerClient(
            options: ClientOptions(
                base: options.address,
                randomSeed: Data(seed),
                name: options.name,
                stored: stored,
                forms: options.forms,
                storesTable: options.storesTable,
                followsWallet: options.followsWallet
            ),
            time: ClientDriver.time()
        )
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [weak self] in self?.handleNow(.timeout) }
        timer.schedule(deadline: .distantFuture)
        timer.resume()
    }

    /// The milliseconds of the monotonic clock, which stands still in sleep.
    static var nowMs: Int64 {
        Int64(ProcessInfo.processInfo.systemUptime * 1_000)
    }

    private static func time() -> ClientTime {
        ClientTime(nowMs: nowMs, wallMs: Int64(Date().timeIntervalSince1970 * 1_000))
    }

    /// Passes an input to the core.
    func handle(_ input: ClientInput) {
        queue.async { self.handleNow(input) }
    }

    /// Passes the player's wish to the core, and returns its outcome. It throws a ``ClientError`` for a wish that names
    /// an action, a phrase or a table that cannot exist.
    func send(_ wish: PlayerWish) async throws -> CommandOutcome {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                guard !self.isEnded else { return continuation.resume(returning: .dropped) }
                let number = self.takeNumber()
                self.commands[number] = continuation
                do {
                    try self.perform(.command(command: number, wish: wish))
                } catch {
                    self.commands.removeValue(forKey: number)?.resume(throwing: error)
                }
            }
        }
    }

    /// Passes a request of the caller to the core, and returns its answer.
    func call(_ toInput: @escaping (UInt64) -> ClientInput) async -> CallAnswer {
        await withCheckedContinuation { continuation in
            queue.async {
                guard !self.isEnded else { return continuation.resume(returning: ClientDriver.unreachable) }
                let number = self.takeNumber()
                self.calls[number] = continuation
                self.handleNow(toInput(number))
            }
        }
    }

    /// Closes all sockets, and ends what is open: commands as dropped, calls as unreachable.
    func end() {
        queue.async {
            guard !self.isEnded else { return }
            self.handleNow(.stop)
            self.isEnded = true
            self.timer.cancel()
            self.sockets.values.forEach { $0.close() }
            self.sockets.removeAll()
            self.commands.values.forEach { $0.resume(returning: .dropped) }
            self.commands.removeAll()
            self.calls.values.forEach { $0.resume(returning: ClientDriver.unreachable) }
            self.calls.removeAll()
            self.http.close()
        }
    }

    private func takeNumber() -> UInt64 {
        numbers += 1
        return numbers
    }

    private func handleNow(_ input: ClientInput) {
        do {
            try perform(input)
        } catch {
            log?("an input is refused: \(error)")
        }
    }

    private func perform(_ input: ClientInput) throws {
        guard !isEnded else { return }
        let handled = try core.handleInput(time: ClientDriver.time(), input: input)
        handled.effects.forEach(perform)
        setTimer(handled.timeoutMs)
        reportChange()
    }

    private func perform(_ effect: ClientEffect) {
        switch effect {
        case .request(let number, let method, let url, let headers, let body):
            let request = HttpRequest(number: number, method: method, url: url, headers: headers, body: body)
            http.send(request) { [weak self] in self?.handle($0) }
        case .open(let socket, let url, let protocols):
            sockets[socket] = SocketConnection(number: socket, url: url, protocols: protocols) { [weak self] in
                self?.handle($0)
            }
        case .send(let socket, let text):
            sockets[socket]?.send(text)
        case .close(let socket):
            sockets.removeValue(forKey: socket)?.close()
        case .store(let key, let value):
            store(value, for: key)
        case .notify(let notification):
            notify(notification)
            if case .ended(let command, let outcome) = notification {
                commands.removeValue(forKey: command)?.resume(returning: outcome)
            }
        case .called(let call, let answer):
            calls.removeValue(forKey: call)?.resume(returning: answer)
        }
    }

    private func store(_ value: String?, for key: StoredKey) {
        do {
            try secrets.save(value, for: key)
        } catch {
            // A full or locked storage costs a sign-in after the next start, and must not end the game.
            log?("\(key.name) is not stored: \(error)")
        }
    }

    private func setTimer(_ timeoutMs: Int64?) {
        guard let timeoutMs else { return timer.schedule(deadline: .distantFuture) }
        let ms = min(max(0, timeoutMs - ClientDriver.nowMs), Int64(Int32.max))
        timer.schedule(deadline: .now() + .milliseconds(Int(ms)))
    }
}
