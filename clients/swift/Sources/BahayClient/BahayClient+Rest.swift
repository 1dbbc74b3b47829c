import Foundation

// Requests to the REST API, which openapi.yaml describes. They never fail: without an answer the code is
// `unreachable`. The core authenticates them, and repeats a GET whose answer is lost.
extension BahayClient {
    /// The time for which a request for a seat waits until the socket is open, in nanoseconds.
    private static let socketTimeoutNs: UInt64 = 10_000_000_000

    /// Performs an operation.
    ///
    /// - Parameters:
    ///   - method: The method in capitals, such as `GET`.
    ///   - path: The path with its query, such as `/v1/me/wallet`.
    ///   - body: The body as JSON; nil without one.
    ///   - headers: Further headers, such as `idempotency-key`.
    ///   - isOpen: True if the operation needs no authentication.
    public func call(
        _ method: String,
        _ path: String,
        body: String? = nil,
        headers: [String: String] = [:],
        isOpen: Bool = false
    ) async -> CallAnswer {
        await driver.call {
            .call(call: $0, method: method, path: path, headers: headers, body: body, isOpen: isOpen)
        }
    }

    /// Opens a practice table, with bots and without coins, and joins it.
    public func practise(kind: String) async -> CallAnswer {
        let body = (try? JSONEncoder().encode(["kind": kind])).map { String(decoding: $0, as: UTF8.self) }
        return await takeSeat(by: "/v1/practice-tables", body: body)
    }

    /// Takes a seat in a room at once, and joins its table.
    public func takeSeat(room: String) async -> CallAnswer {
        await takeSeat(by: "/v1/rooms/\(escape(room))/seat", body: nil)
    }

    /// Opens a private table by a body as JSON, and joins it.
    public func openPrivateTable(body: String) async -> CallAnswer {
        await takeSeat(by: "/v1/private-tables", body: body)
    }

    /// Takes a seat at a private table, and joins it.
    public func takePrivateSeat(code: String) async -> CallAnswer {
        await takeSeat(by: "/v1/private-tables/\(escape(code))/seat", body: nil)
    }

    /// Takes a seat at the rematch of a finished game, which the first request opens, and joins it.
    public func rematch(game: String) async -> CallAnswer {
        await takeSeat(by: "/v1/games/\(escape(game))/rematch", body: nil)
    }

    /// Signs in with a password or an external account: the path is `/v1/sign-in/password` or `/v1/sign-in/openid`. The
    /// device's id is added to the body, a JSON object.
    public func signIn(path: String, body: String) async -> CallAnswer {
        await driver.call { .signIn(call: $0, path: path, body: body) }
    }

    /// Ends the session at the server, forgets the player, and stops.
    public func signOut() async -> CallAnswer {
        let answer = await call("POST", "/v1/sign-out")
        if case .ok = answer { forget() }
        return answer
    }

    /// Requests a seat, and joins. The server keeps a seat only for a player whose socket is open, so without one this
    /// waits for the socket and repeats the request.
    private func takeSeat(by path: String, body: String?) async -> CallAnswer {
        var answer = await call("POST", path, body: body)
        if case .refused(_, "socket_required", _, _) = answer {
            await waitForSocket()
            answer = await call("POST", path, body: body)
        }
        if case .ok = answer { driver.handle(.join) }
        return answer
    }

    /// Returns once the socket is open, or after a timeout.
    private func waitForSocket() async {
        let screens = self.screens
        guard !isOpen(screen) else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await screen in screens where self.isOpen(screen) { return }
            }
            group.addTask { try? await Task.sleep(nanoseconds: BahayClient.socketTimeoutNs) }
            await group.next()
            group.cancelAll()
        }
    }

    private func isOpen(_ screen: ScreenModel) -> Bool {
        ["joining", "live", "weak"].contains(screen.link)
    }

    /// Returns a text as one segment of a path.
    private func escape(_ text: String) -> String {
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~")
        return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    }
}
