package bahay.client

import java.net.URLEncoder
import java.security.SecureRandom
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong
import kotlin.math.max
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.channels.BufferOverflow
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.MutableSharedFlow
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.SharedFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.asSharedFlow
import kotlinx.coroutines.flow.asStateFlow
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.launch
import kotlinx.coroutines.withTimeoutOrNull
import uniffi.bahay_client.ActionModel
import uniffi.bahay_client.ActionRefusalModel
import uniffi.bahay_client.CallAnswer
import uniffi.bahay_client.ClientEffect
import uniffi.bahay_client.ClientException
import uniffi.bahay_client.ClientInput
import uniffi.bahay_client.ClientNotification
import uniffi.bahay_client.ClientOptions
import uniffi.bahay_client.CommandOutcome
import uniffi.bahay_client.MessageForm
import uniffi.bahay_client.PlayerClient
import uniffi.bahay_client.PlayerWish
import uniffi.bahay_client.ScreenModel
import uniffi.bahay_client.SeedChoice
import uniffi.bahay_client.TableModel
import uniffi.bahay_client.TableSnapshot

/**
 * A player's client: it signs in, connects, follows the table, sends commands so that none is lost or applied twice,
 * and reconnects after any failure of a phone's network.
 *
 * It drives the client core: inputs are handled one after the other on one thread of [dispatcher], and the effects of
 * each are performed in order before the next. All functions may be called from any thread.
 *
 * @param base the server's origin, such as `https://house.example`
 * @param name the name of a new guest, of 2 to 20 characters
 * @param forms the message forms to offer, of which the server takes the shortest; empty for all
 */
public class BahayClient(
    base: String,
    private val transport: Transport,
    private val secrets: SecretStore,
    private val clocks: Clocks = JvmClocks,
    name: String? = null,
    followsWallet: Boolean = false,
    forms: List<MessageForm> = emptyList(),
    dispatcher: CoroutineDispatcher = Dispatchers.Default,
) : AutoCloseable {
    private val core = PlayerClient(
        ClientOptions(
            base = base,
            randomSeed = ByteArray(SEED_BYTES).also(SecureRandom()::nextBytes),
            name = name,
            stored = secrets.load(),
            forms = forms,
            storesTable = true,
            followsWallet = followsWallet,
        ),
        clocks.now(),
    )
    private val scope = CoroutineScope(SupervisorJob() + dispatcher.limitedParallelism(1))
    private val inputs = Channel<QueuedInput>(Channel.UNLIMITED)
    private val sockets = mutableMapOf<ULong, Socket>()
    private val outcomes = ConcurrentHashMap<ULong, CompletableDeferred<CommandOutcome>>()
    private val answers = ConcurrentHashMap<ULong, CompletableDeferred<CallAnswer>>()
    private val numbers = AtomicLong()
    private var timer: Job? = null
    private val currentScreen = MutableStateFlow(core.screen(clocks.now().nowMs))
    private val changes =
        MutableSharedFlow<ClientNotification>(0, NOTIFICATIONS_MAX, BufferOverflow.DROP_OLDEST)

    /** Everything that an app shows. Countdowns in it are those of the last change: see [readScreen]. */
    public val screen: StateFlow<ScreenModel> = currentScreen.asStateFlow()

    /** What has just happened, for animations and sounds. A collector that is too slow loses the oldest ones. */
    public val notifications: SharedFlow<ClientNotification> = changes.asSharedFlow()

    init {
        scope.launch { for (queued in inputs) handle(queued) }
    }

    /** Signs in and connects; also takes over from a newer connection, and signs in again after a session has ended. */
    public fun start(): Unit = post(ClientInput.Start)

    /** Closes the connection and drops open commands. */
    public fun stop(): Unit = post(ClientInput.Stop)

    /** Tells that the app is visible or awake again, or that the network has returned or changed. */
    public fun wake(): Unit = post(ClientInput.Wake)

    /** Forgets the player and stops. */
    public fun forget(): Unit = post(ClientInput.Forget)

    /** Returns what an app shows at this moment, with the present countdowns. */
    public fun readScreen(): ScreenModel = core.screen(clocks.now().nowMs)

    /** Returns the table in the form of asyncapi.yaml, for apps that draw a game by themselves. */
    public fun readTable(): TableSnapshot? = core.table()

    /** Returns the server's time in milliseconds since 1970-01-01 UTC. */
    public fun serverTimeMs(): Long = core.serverTimeMs(clocks.now().nowMs)

    /** Returns the reason for which the server would refuse an action now; null if it is legal. */
    public fun findRefusal(action: String): ActionRefusalModel? = core.findRefusal(action)

    public suspend fun ready(seed: SeedChoice = SeedChoice.Drawn): CommandOutcome = command(PlayerWish.Ready(seed))

    /**
     * Answers the prompt of a table as it was shown, with one of its actions. If another prompt is open meanwhile, the
     * outcome is `Overtaken`.
     */
    public suspend fun act(table: TableModel, action: ActionModel): CommandOutcome {
        val prompt = table.prompt ?: return CommandOutcome.Dropped
        return command(PlayerWish.Answer(prompt, action.json))
    }

    /**
     * Answers whichever prompt is open.
     *
     * @param action the action as JSON
     * @throws ClientException if the text is no action of the table's game
     */
    public suspend fun act(action: String): CommandOutcome = command(PlayerWish.Act(action))

    public suspend fun takeBack(): CommandOutcome = command(PlayerWish.TakeBack)

    public suspend fun leave(): CommandOutcome = command(PlayerWish.Leave)

    public suspend fun hint(): CommandOutcome = command(PlayerWish.Hint)

    public suspend fun say(phrase: String): CommandOutcome = command(PlayerWish.Say(phrase))

    /** Seeks a table in one to eight rooms of one game. A found table is joined by itself. */
    public suspend fun seek(rooms: List<String>): CommandOutcome = command(PlayerWish.Seek(rooms))

    public suspend fun cancelSeek(): CommandOutcome = command(PlayerWish.CancelSeek)

    public suspend fun watch(table: String): CommandOutcome = command(PlayerWish.Watch(table))

    public suspend fun unwatch(): CommandOutcome = command(PlayerWish.Unwatch)

    /** Opens a practice table of this game, with bots and without coins, and joins it. */
    public suspend fun practise(kind: String): CallAnswer =
        takeSeatBy("/v1/practice-tables", """{"kind":"${encodePath(kind)}"}""")

    /** Takes a seat in a room, and joins. */
    public suspend fun takeSeat(room: String): CallAnswer = takeSeatBy("/v1/rooms/${encodePath(room)}/seat", null)

    /** Takes a seat at a private table, and joins. */
    public suspend fun takePrivateSeat(code: String): CallAnswer =
        takeSeatBy("/v1/private-tables/${encodePath(code)}/seat", null)

    /**
     * Sends an authenticated request to the REST API.
     *
     * @param path the path with its query, such as `/v1/me/wallet`
     * @param body the body as JSON
     * @param isOpen true if the operation needs no authentication
     */
    public suspend fun call(
        method: String,
        path: String,
        body: String? = null,
        headers: Map<String, String> = emptyMap(),
        isOpen: Boolean = false,
    ): CallAnswer = answerOf { ClientInput.Call(it, method, path, headers, body, isOpen) }

    /** Signs in with a name and password, or an external account; `body` is a JSON object. */
    public suspend fun signIn(path: String, body: String): CallAnswer =
        answerOf { ClientInput.SignIn(it, path, body) }

    /** Closes the connection, and frees the core. Commands and calls without an outcome are cancelled. */
    override fun close() {
        scope.launch {
            sockets.values.forEach(Socket::close)
            sockets.clear()
            inputs.cancel()
            core.destroy()
            outcomes.values.forEach { it.cancel() }
            answers.values.forEach { it.cancel() }
            scope.cancel()
        }
    }

    /**
     * Requests a seat and joins. The server keeps a seat only for a player whose socket is open, so without one this
     * waits for the socket and tries again.
     */
    private suspend fun takeSeatBy(path: String, body: String?): CallAnswer {
        repeat(SEAT_ATTEMPTS) {
            val answer = call("POST", path, body)
            if (answer is CallAnswer.Ok) post(ClientInput.Join)
            if (answer !is CallAnswer.Refused || answer.code != "socket_required") return answer
            withTimeoutOrNull(SOCKET_WAIT_MS) { screen.first { it.link == "live" } }
        }
        return call("POST", path, body).also { if (it is CallAnswer.Ok) post(ClientInput.Join) }
    }

    /** Encodes an identifier as a segment of a path; the result is also safe within a JSON text. */
    private fun encodePath(name: String): String = URLEncoder.encode(name, Charsets.UTF_8).replace("+", "%20")

    private suspend fun command(wish: PlayerWish): CommandOutcome {
        val number = numbers.incrementAndGet().toULong()
        val outcome = CompletableDeferred<CommandOutcome>()
        outcomes[number] = outcome
        enqueue(QueuedInput(ClientInput.Command(number, wish), outcome::completeExceptionally))
        try {
            return outcome.await()
        } finally {
            outcomes.remove(number)
        }
    }

    private suspend fun answerOf(input: (ULong) -> ClientInput): CallAnswer {
        val number = numbers.incrementAndGet().toULong()
        val answer = CompletableDeferred<CallAnswer>()
        answers[number] = answer
        enqueue(QueuedInput(input(number), answer::completeExceptionally))
        try {
            return answer.await()
        } finally {
            answers.remove(number)
        }
    }

    private fun post(input: ClientInput): Unit = enqueue(QueuedInput(input) {})

    private fun enqueue(queued: QueuedInput) {
        // A closed client has no use for what still arrives from its network.
        val result = inputs.trySend(queued)
        if (result.isFailure) queued.refuse(IllegalStateException("the client is closed"))
    }

    private fun handle(queued: QueuedInput) {
        if (queued.input is ClientInput.Closed) sockets.remove(queued.input.socket)
        val handled = try {
            core.handleInput(clocks.now(), queued.input)
        } catch (error: ClientException) {
            queued.refuse(error)
            return
        }
        handled.effects.forEach(::perform)
        schedule(handled.timeoutMs)
        currentScreen.value = readScreen()
    }

    private fun schedule(timeoutMs: Long?) {
        timer?.cancel()
        timer = timeoutMs?.let {
            scope.launch {
                delay(max(0, it - clocks.now().nowMs))
                post(ClientInput.Timeout)
            }
        }
    }

    private fun perform(effect: ClientEffect) {
        when (effect) {
            is ClientEffect.Request -> request(effect)
            is ClientEffect.Open -> {
                sockets[effect.socket] =
                    transport.open(effect.url, effect.protocols, SocketInputs(effect.socket))
            }
            is ClientEffect.Send -> sockets[effect.socket]?.send(effect.text)
            is ClientEffect.Close -> sockets.remove(effect.socket)?.close()
            is ClientEffect.Store -> secrets.store(effect.key, effect.value)
            is ClientEffect.Notify -> notify(effect.notification)
            is ClientEffect.Called -> answers[effect.call]?.complete(effect.answer)
        }
    }

    private fun notify(notification: ClientNotification) {
        if (notification is ClientNotification.Ended) {
            outcomes[notification.command]?.complete(notification.outcome)
        }
        changes.tryEmit(notification)
    }

    private fun request(effect: ClientEffect.Request) {
        val callback = object : HttpCallback {
            override fun answered(status: Int, contentType: String?, retryAfter: String?, body: String) {
                val retryAfterMs = retryAfter?.toULongOrNull()?.let { it * MS_PER_SECOND }
                post(ClientInput.Answered(effect.request, status.toUShort(), contentType, body, retryAfterMs))
            }

            override fun failed(): Unit = post(ClientInput.Unanswered(effect.request))
        }
        transport.request(effect.method, effect.url, effect.headers, effect.body, callback)
    }

    /** Passes the events of a socket to the core. */
    private inner class SocketInputs(private val socket: ULong) : SocketCallback {
        override fun opened(protocol: String): Unit = post(ClientInput.Opened(socket, protocol))

        override fun receivedText(text: String): Unit = post(ClientInput.ReceivedText(socket, text))

        override fun receivedBinary(bytes: ByteArray): Unit = post(ClientInput.ReceivedBinary(socket, bytes))

        override fun closed(code: Int): Unit = post(ClientInput.Closed(socket, code.toUShort()))
    }

    /** An input, and the receiver of the error if the core cannot take it. */
    private class QueuedInput(val input: ClientInput, val refuse: (Throwable) -> Unit)

    private companion object {
        const val SEED_BYTES = 32
        const val NOTIFICATIONS_MAX = 256
        const val SEAT_ATTEMPTS = 3
        const val SOCKET_WAIT_MS = 10_000L
        const val MS_PER_SECOND = 1_000UL
    }
}
