import BahayClient
import SwiftUI

/// Keeps the newest screen of a client for its views.
@MainActor
final class TableStore: ObservableObject {
    @Published private(set) var screen: ScreenModel
    @Published private(set) var notice = ""
    let client: BahayClient

    init(client: BahayClient) {
        self.client = client
        screen = client.screen
    }

    /// Follows the client until the view disappears.
    func follow() async {
        let screens = client.screens
        let notifications = client.notifications
        client.start()
        async let reading: Void = read(notifications)
        if client.screen.table == nil, case .refused(_, let code, _, _) = await client.practise(kind: "tongits") {
            notice = code
        }
        for await screen in screens { self.screen = screen }
        await reading
    }

    /// Sends a command, and shows its refusal. `clients/refusals` has a text for each code, in English and Filipino.
    func send(_ command: @escaping (BahayClient) async throws -> CommandOutcome) {
        Task {
            if case .refused(_, _, let detail)? = try? await command(client) { notice = detail }
        }
    }

    private func read(_ notifications: AsyncStream<ClientNotification>) async {
        for await notification in notifications {
            switch notification {
            case .said(_, let phrase): notice = phrase.replacingOccurrences(of: "_", with: " ")
            case .unseated(let cause): notice = "You have left: \(cause)"
            case .deal(game: _, serverSeed: _, computed: _, shown: _, holds: false): notice = "The deal does not match its commitment."
            default: break
            }
        }
    }
}

/// A table: seats, the view in words, the own hand, the countdown, and the legal actions as buttons.
struct TableScreen: View {
    @StateObject var store: TableStore
    @Environment(\.scenePhase) private var scenePhase

    var body: some View {
        List {
            Section { Text("\(store.screen.link) \(store.notice)") }
            if let table = store.screen.table {
                Section("Table") {
                    ForEach(table.seats, id: \.seat) { seat in
                        Label(seat.name ?? "free", systemImage: seat.isPrompted ? "hourglass" : "person")
                            .foregroundStyle(seat.presence == .present ? .primary : .secondary)
                    }
                    ForEach(Array(table.lines.enumerated()), id: \.offset) { _, line in
                        LabeledLine(label: line.label, text: line.text)
                    }
                }
                Section("Hand") { Text(table.hand.joined(separator: " ")) }
                Section("Actions") { actions(table) }
                if let settlement = table.settlement {
                    Section("Settlement") { Text(settlement.winner.map { "seat \($0) wins" } ?? "nobody wins") }
                }
            }
        }
        .task { await store.follow() }
        .onChange(of: scenePhase) { store.client.sceneChanged(to: $0) }
    }

    @ViewBuilder
    private func actions(_ table: TableModel) -> some View {
        if let countdown = table.countdown {
            TimelineView(.periodic(from: .now, by: 1)) { _ in
                Text("\(max(0, countdown.deadlineMs - store.client.serverTimeMs) / 1_000) s")
            }
        }
        if table.phase == "preparing" {
            Button("Ready") { store.send { try await $0.ready() } }
        }
        ForEach(table.actions, id: \.json) { action in
            Button(action.words) { store.send { try await $0.act(action, at: table) } }.disabled(!table.isCurrent)
        }
    }
}

/// A label with a text at the other end.
private struct LabeledLine: View {
    let label: String
    let text: String

    var body: some View {
        HStack {
            Text(label).foregroundStyle(.secondary)
            Spacer()
            Text(text)
        }
    }
}
