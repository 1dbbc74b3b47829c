// The player's commands. A command about the table may be given without a network: it is sent once the table is joined
// again, if the table still expects it then.
extension BahayClient {
    /// Is ready for the game in preparation, and takes part in the deal by a drawn text, unless another is given.
    @discardableResult
    public func ready(seed: SeedChoice = .drawn) async throws -> CommandOutcome {
        try await driver.send(.ready(seed: seed))
    }

    /// Answers the prompt of a table as it was shown, with one of its actions. If another prompt is open meanwhile,
    /// nothing is sent, and the outcome is ``CommandOutcome/overtaken``.
    @discardableResult
    public func act(_ action: ActionModel, at table: TableModel) async throws -> CommandOutcome {
        guard let prompt = table.prompt else { return .dropped }
        return try await driver.send(.answer(prompt: prompt, action: action.json))
    }

    /// Answers whichever prompt is open, by an action as JSON. It throws ``ClientError/NotAnAction`` for any other text.
    @discardableResult
    public func act(json: String) async throws -> CommandOutcome {
        try await driver.send(.act(action: json))
    }

    /// Takes the seat back from the AI.
    @discardableResult
    public func takeBack() async throws -> CommandOutcome {
        try await driver.send(.takeBack)
    }

    /// Leaves the table.
    @discardableResult
    public func leave() async throws -> CommandOutcome {
        try await driver.send(.leave)
    }

    /// Requests a bot's advice at a practice table, while a prompt is open.
    @discardableResult
    public func hint() async throws -> CommandOutcome {
        try await driver.send(.hint)
    }

    /// Says a phrase in snake case, such as `good_luck`, now or never. It throws ``ClientError/UnknownPhrase``.
    @discardableResult
    public func say(_ phrase: String) async throws -> CommandOutcome {
        try await driver.send(.say(phrase: phrase))
    }

    /// Seeks a table in one to eight rooms of one game. The client joins the table by itself.
    @discardableResult
    public func seek(rooms: [String]) async throws -> CommandOutcome {
        try await driver.send(.seek(rooms: rooms))
    }

    /// Ends the search for a table.
    @discardableResult
    public func cancelSeek() async throws -> CommandOutcome {
        try await driver.send(.cancelSeek)
    }

    /// Watches a table. It throws ``ClientError/NotAnId`` for a text that is no UUID.
    @discardableResult
    public func watch(table: String) async throws -> CommandOutcome {
        try await driver.send(.watch(table: table))
    }

    /// Ends watching.
    @discardableResult
    public func unwatch() async throws -> CommandOutcome {
        try await driver.send(.unwatch)
    }
}
