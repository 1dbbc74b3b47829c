using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Bahay.Client;
using UnityEngine;

/// <summary>
/// A table on the screen: seats, the own hand, the legal actions as buttons, and the countdown. It opens a practice
/// table if the player has none. Add it to an object of a scene that stays loaded.
/// </summary>
public sealed class TableScene : MonoBehaviour
{
    [SerializeField] private string address = "https://house.example";
    [SerializeField] private string kind = "tongits";

    private readonly CancellationTokenSource closing = new CancellationTokenSource();
    private BahayClient client;
    private ScreenModel screen;
    private string notice = "";
    private NetworkReachability network;

    private async void Start()
    {
        // A released app implements ISecretStore by the keychain and the keystore.
        var secrets = new FileSecretStore(Application.persistentDataPath + "/bahay");
        client = new BahayClient(new BahayClientOptions(address, secrets)
        {
            StoresTable = true,
            FollowsWallet = true,
            FollowsNetwork = false,
            Log = Debug.Log,
        });
        network = Application.internetReachability;
        // Both continue on Unity's main thread.
        ReadNotifications(client.NotificationsAsync(closing.Token));
        ReadScreens(client.ScreensAsync(closing.Token));
        client.Start();
        if (client.Screen.Table == null) Show(await client.PractiseAsync(kind));
    }

    private async void ReadScreens(IAsyncEnumerable<ScreenModel> screens)
    {
        try
        {
            await foreach (ScreenModel next in screens) screen = next;
        }
        catch (System.OperationCanceledException)
        {
            // The scene has ended.
        }
    }

    private async void ReadNotifications(IAsyncEnumerable<ClientNotification> notifications)
    {
        try
        {
            await foreach (ClientNotification notification in notifications)
            {
                if (notification is ClientNotification.Said said) notice = said.Phrase.Replace('_', ' ');
                if (notification is ClientNotification.Unseated unseated) notice = $"You have left: {unseated.Cause}";
                if (notification is ClientNotification.Deal { Holds: false }) notice = "The deal does not match its commitment.";
            }
        }
        catch (System.OperationCanceledException)
        {
            // The scene has ended.
        }
    }

    private void Update()
    {
        if (network == Application.internetReachability) return;
        network = Application.internetReachability;
        client?.NetworkChanged();
    }

    private void OnApplicationPause(bool isPaused)
    {
        if (!isPaused) client?.Wake();
    }

    private void OnDestroy()
    {
        closing.Cancel();
        client?.Dispose();
    }

    private void OnGUI()
    {
        if (screen == null) return;
        GUILayout.Label($"{screen.Link} {screen.Player} {notice}");
        if (!(screen.Table is { } table)) return;
        GUI.enabled = table.IsCurrent;
        foreach (SeatModel seat in table.Seats)
        {
            GUILayout.Label($"{(seat.IsPrompted ? "▶ " : "")}{seat.Name ?? "free"} ({seat.Presence})");
        }
        foreach (TableLine line in table.Lines) GUILayout.Label($"{line.Label} {line.Text}");
        GUILayout.Label(string.Join(" ", table.Hand));
        if (table.Countdown is { } countdown)
        {
            GUILayout.Label($"{Mathf.Max(0, countdown.DeadlineMs - client.ServerTimeMs) / 1_000:0} s");
        }
        if (table.Phase == "preparing" && GUILayout.Button("Ready")) Send(client.ReadyAsync());
        foreach (ActionModel action in table.Actions.Where(action => GUILayout.Button(action.Words)))
        {
            Send(client.ActAsync(table, action));
        }
        if (table.Settlement is { } settlement) GUILayout.Label($"seat {settlement.Winner} wins");
    }

    private async void Send(System.Threading.Tasks.Task<CommandOutcome> command)
    {
        // clients/refusals has a text for each code, in English and Filipino.
        if (await command is CommandOutcome.Refused refused) notice = refused.Detail;
    }

    private void Show(CallAnswer answer)
    {
        if (answer is CallAnswer.Refused refused) notice = refused.Code;
    }
}
