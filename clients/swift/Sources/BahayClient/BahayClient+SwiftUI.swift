#if canImport(SwiftUI)
import SwiftUI

extension BahayClient {
    /// Follows the app's scene: a visible one checks the connection at once. In the background the system suspends the
    /// app with its connection, and the AI plays if a prompt is open for too long.
    public func sceneChanged(to phase: ScenePhase) {
        if phase == .active { wake() }
    }
}
#endif
