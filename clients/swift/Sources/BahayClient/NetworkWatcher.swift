import Foundation

#if canImport(Network)
import Network

/// Reports that the network has returned, or is another one.
final class NetworkWatcher {
    private let monitor = NWPathMonitor()
    private let queue = DispatchQueue(label: "bahay.network")
    private var last: [NWInterface.InterfaceType]?

    init(report: @escaping () -> Void) {
        monitor.pathUpdateHandler = { [weak self] path in
            guard let self else { return }
            let types = path.status == .satisfied ? path.availableInterfaces.map(\.type) : []
            // The first path is the present one, after which there is nothing to wake.
            if let last = self.last, !types.isEmpty, types != last { report() }
            self.last = types
        }
        monitor.start(queue: queue)
    }

    deinit {
        monitor.cancel()
    }
}
#endif

/// Returns a watcher that works while it is kept; nil on a platform without one.
func makeNetworkWatcher(report: @escaping () -> Void) -> AnyObject? {
    #if canImport(Network)
    return NetworkWatcher(report: report)
    #else
    return nil
    #endif
}
