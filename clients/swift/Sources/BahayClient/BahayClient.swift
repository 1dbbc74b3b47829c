import Foundation

/// A player's client: signs in, stays connected, follows the player's table and sends commands so that none is lost or
/// applied twice. It may be used on any thread. Amounts of coins are in hundredths, times in milliseconds.
public final class BahayClient: @unchecked Sendable {
    let driver: ClientDriver
    private let notificationFeed: Feed<ClientNotification>
    private let screenFeed: Feed<ScreenModel>
    private var networkWatcher: AnyObject?

    /// Creates a client that is off.
    public init(options: BahayClientOptions) throws {
        let notifications = Feed<ClientNotification>()
        let screens = Feed<ScreenModel>()
        notificationFeed = notifications
        screenFeed = screens
        let changes = ChangeReporter()
        driver = try ClientDriver(options: options, notify: notifications.publish, reportChange: { changes.report?() })
        let core = driver.core
        changes.report = {
            if !screens.isEmpty { screens.publish(core.screen(nowMs: ClientDriver.nowMs)) }
        }
        if options.followsNetwork { networkWatcher = makeNetworkWatcher { [weak self] in self?.networkChanged() } }
    }

    deinit {
        driver.end()
        notificationFeed.finish()
        screenFeed.finish()
    }

    /// Everything that an app shows, at this moment.
    public var screen: ScreenModel { driver.core.screen(nowMs: ClientDriver.nowMs) }

    /// The player's table as JSON, for apps that draw a game by themselves.
    public var table: TableSnapshot? { driver.core.table() }

    /// The watched table as JSON.
    public var watched: TableSnapshot? { driver.core.watched() }

    /// The id of the player who is signed in.
    public var playerId: String? { driver.core.playerId() }

    /// The server's time, in milliseconds since 1970-01-01 UTC, in which deadlines are given.
    public var serverTimeMs: Int64 { driver.core.serverTimeMs(nowMs: ClientDriver.nowMs) }

    /// Subscribes now, and returns each later notification in order.
    public var notifications: AsyncStream<ClientNotification> { notificationFeed.subscribe(.unbounded) }

    /// Subscribes now, and returns the screen after each change; a slow reader receives only the newest one. A countdown
    /// runs between changes: a view draws it from ``CountdownModel/deadlineMs`` and ``serverTimeMs``.
    public var screens: AsyncStream<ScreenModel> { screenFeed.subscribe(.bufferingNewest(1)) }

    /// Signs in, connects, and stays connected. It also takes over from a newer connection, and signs in again after
    /// the end of a session.
    public func start() { driver.handle(.start) }

    /// Closes the connection, and drops open commands.
    public func stop() { driver.handle(.stop) }

    /// Checks the connection at once: the app is visible again.
    public func wake() { driver.handle(.wake) }

    /// Checks the connection at once: the network has returned, or is another one.
    public func networkChanged() { wake() }

    /// Forgets the player, and stops. The next start signs in a new guest.
    public func forget() { driver.handle(.forget) }

    /// Returns the reason for which the server would refuse an action now; nil if it is legal. It throws
    /// ``ClientError/NotAnAction`` for a text that is no action of the table's game.
    public func findRefusal(action: String) throws -> ActionRefusalModel? {
        try driver.core.findRefusal(action: action)
    }
}

/// Reports changes to a receiver that is known after the driver.
private final class ChangeReporter {
    var report: (() -> Void)?
}
