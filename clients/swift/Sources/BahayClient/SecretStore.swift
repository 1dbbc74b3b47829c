import Foundation

#if canImport(Security)
import Security
#endif

/// Stores the client's secrets over a restart. The methods are called one at a time, on a queue of the client. An error
/// of ``save(_:for:)`` is logged, and the client goes on without the stored value.
public protocol SecretStore: AnyObject {
    /// Returns the stored value; nil without one.
    func load(_ key: StoredKey) -> String?
    /// Stores a value; nil removes it.
    func save(_ value: String?, for key: StoredKey) throws
}

/// Keeps secrets in memory: each run of the program is a new guest.
public final class MemorySecretStore: SecretStore {
    private let lock = NSLock()
    private var values: [StoredKey: String] = [:]

    public init() {}

    public func load(_ key: StoredKey) -> String? {
        lock.lock()
        defer { lock.unlock() }
        return values[key]
    }

    public func save(_ value: String?, for key: StoredKey) {
        lock.lock()
        defer { lock.unlock() }
        values[key] = value
    }
}

extension StoredKey {
    /// All keys, and their names in a store.
    static let all: [(key: StoredKey, name: String)] = [
        (.device, "device"), (.seed, "seed"), (.session, "session"), (.table, "table"),
    ]

    /// The name of the key in a store.
    var name: String {
        switch self {
        case .device: return "device"
        case .seed: return "seed"
        case .session: return "session"
        case .table: return "table"
        }
    }
}

#if canImport(Security)
/// Keeps secrets in the keychain of this device. They are readable after the first unlock, so that a notification may
/// start the app, and are neither part of a backup nor of another device.
public final class KeychainSecretStore: SecretStore {
    private let service: String

    /// Uses the entries of a service, such as the bundle's identifier.
    public init(service: String) {
        self.service = service
    }

    public func load(_ key: StoredKey) -> String? {
        var query = self.query(for: key)
        query[kSecReturnData as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var found: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess, let data = found as? Data else {
            return nil
        }
        return String(data: data, encoding: .utf8)
    }

    public func save(_ value: String?, for key: StoredKey) throws {
        let query = self.query(for: key)
        guard let value else {
            try check(SecItemDelete(query as CFDictionary), orAccept: errSecItemNotFound)
            return
        }
        let attributes: [String: Any] = [
            kSecValueData as String: Data(value.utf8),
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        let status = SecItemUpdate(query as CFDictionary, attributes as CFDictionary)
        guard status == errSecItemNotFound else { return try check(status, orAccept: errSecSuccess) }
        let item = query.merging(attributes) { _, new in new }
        try check(SecItemAdd(item as CFDictionary, nil), orAccept: errSecSuccess)
    }

    private func query(for key: StoredKey) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: key.name,
        ]
    }

    private func check(_ status: OSStatus, orAccept accepted: OSStatus) throws {
        guard status == errSecSuccess || status == accepted else { throw KeychainError(status: status) }
    }
}

/// A failure of the keychain, with its `OSStatus`.
public struct KeychainError: Error {
    public let status: OSStatus
}
#endif
