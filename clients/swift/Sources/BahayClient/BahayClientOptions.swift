import Foundation

/// The options of a ``BahayClient``.
public struct BahayClientOptions {
    /// The server's origin, such as `https://house.example`.
    public var address: String
    /// The storage of the device's secret and of the session's tokens.
    public var secrets: SecretStore
    /// The name of a new guest, of 2 to 20 characters; nil for one of the server's choice.
    public var name: String?
    /// The message forms to offer, of which the server takes the shortest; empty for all.
    public var forms: [MessageForm] = []
    /// Stores the table at every change, so that a restarted app shows it at once.
    public var storesTable = false
    /// Reads the player's wallet after each connection and each settlement.
    public var followsWallet = false
    /// Wakes the client when the network returns or is another one.
    public var followsNetwork = true
    /// Receives faults of the storage and of the library, for a log; it runs on a queue of the client.
    public var log: ((String) -> Void)?

    /// Creates the options of a client of one installation.
    public init(address: String, secrets: SecretStore) {
        self.address = address
        self.secrets = secrets
    }
}
