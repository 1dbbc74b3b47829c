package bahay.client

import java.net.URLDecoder
import java.security.MessageDigest
import java.time.Instant
import kotlin.math.abs
import kotlin.math.max
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.boolean
import kotlinx.serialization.json.contentOrNull
import kotlinx.serialization.json.int
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import kotlinx.serialization.json.long
import uniffi.bahay_client.ClientEffect
import uniffi.bahay_client.ClientInput
import uniffi.bahay_client.ClientNotification
import uniffi.bahay_client.ClientOptions
import uniffi.bahay_client.ClientTime
import uniffi.bahay_client.CommandOutcome
import uniffi.bahay_client.MessageForm
import uniffi.bahay_client.PlayerClient
import uniffi.bahay_client.PlayerWish
import uniffi.bahay_client.SeedChoice

/** The client's clocks minus the server's; the client has to determine it. */
private const val AHEAD_MS = 5_000_000L
private const val TOKEN_MS = 15 * 60_000L
private const val PING_IDS = 1_000_000L

/** The time for which a used refresh token returns the same successor. */
private const val REUSE_MS = 60_000L

/** The bound of timer runs before the next line, far more than any client needs. */
private const val RUNS_MAX = 100_000

/** The permitted error of the client's server time once it is current. */
private const val CLOCK_MS = 1_000L
private const val SEED_BYTES = 32

/** The start of the subprotocol that holds the access token. */
private const val TOKEN_PREFIX = "bahay.token."
private const val DIGEST_DIGITS = 16

/** A deviation of the client from a tape. */
class TapeError(message: String) : Exception(message)

/**
 * Plays a tape against the client core (clients/tapes/README.md): provides the clock, the network and the server's side
 * of the connection, and compares the client's commands and state with those of the tape.
 */
class TapePlayer(first: JsonObject) {
    private val form = first.text("form")
    private val core: PlayerClient
    private var now = 0L

    /** The time of the present line. */
    private var at = 0L
    private var ahead = AHEAD_MS
    private var wallAhead = 0L
    private val inputs = ArrayDeque<ClientInput>()
    private var timeoutMs: Long? = null
    private var isAsleep = false
    private var stops = false
    private var net = "up"

    /** True if the connection was lost while the machine slept, without notice. */
    private var isStale = false

    /** The sockets that wait to be opened, oldest first. */
    private val waiting = mutableListOf<ULong>()

    /** The commands within each socket's request, which count as sent when the socket opens. */
    private val requests = mutableMapOf<ULong, List<JsonObject>>()
    private var socket: ULong? = null
    private var before: ULong? = null
    private val sent = ArrayDeque<JsonObject>()
    private val ended = ArrayDeque<ClientNotification.Ended>()
    private var link = "off"
    private var wishes = 0L
    private var tokens = 0
    private val validTokens = mutableSetOf<String>()
    private val refreshes = LinkedHashMap<String, Refresh>()
    private var dropsRefreshAnswer = false
    private var id = ""

    /** An issued refresh token. */
    private class Refresh(val access: String, val givenAt: Long) {
        var usedAt: Long? = null
        var successor: JsonObject? = null
    }

    init {
        check(first.getValue("tape").jsonPrimitive.int == 2) { "a tape of another version" }
        val options = ClientOptions(
            base = "http://tape",
            randomSeed = ByteArray(SEED_BYTES) { it.toByte() },
            name = null,
            stored = emptyList(),
            forms = listOf(MessageForm.COMPACT, MessageForm.BRIEF, MessageForm.FULL),
            storesTable = true,
            followsWallet = false,
        )
        core = PlayerClient(options, ClientTime(AHEAD_MS, AHEAD_MS))
    }

    fun play(line: JsonObject) {
        val time = line["at"] ?: return checkExpectation(line)
        assertNothingPending()
        at = time.jsonPrimitive.long
        advanceTo(at)
        applyEvent(line)
    }

    /** Checks that the tape has named every command and every outcome. */
    fun assertNothingPending() {
        if (sent.isNotEmpty()) throw TapeError("also sent: $sent")
        if (ended.isNotEmpty()) throw TapeError("also ended: $ended")
    }

    private fun applyEvent(line: JsonObject) {
        when {
            "do" in line -> performWish(line.getValue("do").jsonObject, line)
            "enter" in line -> expectConnection(line.getValue("enter").jsonObject.getValue("within").jsonPrimitive.long)
            "heard" in line || "bytes" in line -> deliver(line)
            "close" in line -> close(line.getValue("close").jsonPrimitive.int)
            "net" in line -> setNetwork(line.text("net"))
            "noticed" in line -> if (link == "live") throw TapeError("the client has not noticed that the connection is dead")
            "clock" in line -> wallAhead += line.getValue("clock").jsonPrimitive.long
            line["refresh"] == JsonPrimitive("unanswered") -> dropsRefreshAnswer = true
            "refresh" in line -> refresh(refreshes.keys.last())
            "sleep" in line -> fallAsleep(line["stops"]?.jsonPrimitive?.boolean ?: false)
            "expire" in line -> validTokens.clear()
            "link" in line -> assertSame("link", JsonPrimitive(link), line.getValue("link"))
            else -> throw TapeError("an unknown line")
        }
    }

    private fun checkExpectation(line: JsonObject) {
        when {
            "send" in line -> assertSame("command", sent.removeFirstOrNull() ?: JsonNull, line.getValue("send"))
            "show" in line -> checkShown(line.getValue("show").jsonObject)
            "current" in line -> {
                if (core.table()?.isCurrent != true) throw TapeError("the table is not current")
                checkClock()
            }
            "unseated" in line -> if (core.table() != null) throw TapeError("a table is shown")
            "end" in line -> {
                val found = ended.removeFirstOrNull() ?: throw TapeError("no command has ended")
                val outcome = mapOf(
                    "wish" to JsonPrimitive(found.command.toLong()),
                    "outcome" to JsonPrimitive(nameOf(found.outcome)),
                )
                assertSame("ended", JsonObject(outcome), line.getValue("end"))
            }
            else -> throw TapeError("an unknown line")
        }
    }

    private fun checkShown(show: JsonObject) {
        val table = core.table() ?: throw TapeError("no table is shown")
        val prompt = table.prompt?.let { Json.parseToJsonElement(it) } ?: JsonNull
        val shown = JsonObject(mapOf("view" to Json.parseToJsonElement(table.view), "prompt" to prompt))
        val found = mapOf(
            "version" to JsonPrimitive(table.version.toLong()),
            "tag" to JsonPrimitive(table.tag),
            "digest" to JsonPrimitive(digest(shown)),
        )
        assertSame("shown ${canonical(shown)}", JsonObject(found), show)
    }

    private fun performWish(wish: JsonObject, line: JsonObject) {
        when (wish.text("type")) {
            "start" -> {
                id = line.text("player")
                input(ClientInput.Start)
            }
            "wake" -> input(ClientInput.Wake)
            else -> {
                wishes += 1
                input(ClientInput.Command(wishes.toULong(), toWish(wish)))
            }
        }
    }

    private fun toWish(wish: JsonObject): PlayerWish =
        when (wish.text("type")) {
            "ready" -> {
                val text = wish["text"]?.jsonPrimitive?.contentOrNull
                PlayerWish.Ready(if (text == null) SeedChoice.None else SeedChoice.Chosen(text))
            }
            "act" -> PlayerWish.Act(wish.getValue("action").toString())
            "leave" -> PlayerWish.Leave
            else -> throw TapeError("an unknown wish")
        }

    private fun setNetwork(state: String) {
        net = state
        if (state == "dead") isStale = true
    }

    private fun fallAsleep(stopsClock: Boolean) {
        isAsleep = true
        isStale = true
        stops = stopsClock
    }

    /** Checks the client's server time, unless the line was processed late. */
    private fun checkClock() {
        if (now - at >= CLOCK_MS) return
        val off = core.serverTimeMs(now + ahead) - now
        if (abs(off) > CLOCK_MS) throw TapeError("the client's server time is off by $off ms")
    }

    private fun expectConnection(within: Long) {
        val end = now + within
        while (true) {
            val opened = waiting.removeLastOrNull()
            if (opened == null) {
                advanceToNextTimer(end)
                continue
            }
            open(opened)
            while (sent.isEmpty() && socket == opened) advanceToNextTimer(end)
            // The socket was opened into a dead network, and abandoned before a token arrived.
            val command = sent.removeFirstOrNull() ?: continue
            val entry = JsonObject(command.filterKeys { it != "token" })
            assertSame("first command", entry, Json.parseToJsonElement("""{"type":"authenticate","id":0}"""))
            if (command.text("token") in validTokens) return
            sent.clear()
            val detail = "the access token has expired; use the refresh token"
            val refusal = """{"type":"refusal","id":0,"code":"token_expired","detail":"$detail","retryable":false}"""
            receive(opened, Json.parseToJsonElement(refusal))
            if (socket == opened) close(4401)
        }
    }

    private fun open(opened: ULong) {
        before = socket ?: before
        socket = opened
        isStale = false
        sent.addAll(requests[opened].orEmpty())
        input(ClientInput.Opened(opened, form))
    }

    private fun deliver(line: JsonObject) {
        val isOld = line["on"] == JsonPrimitive("before")
        val target = (if (isOld) before else socket) ?: if (isOld) return else throw TapeError("there is no connection")
        val table = core.table()
        if ("heard" in line) {
            input(ClientInput.ReceivedText(target, line.text("heard")))
        } else {
            val bytes = line.text("bytes").chunked(2).map { it.toInt(radix = 16).toByte() }.toByteArray()
            input(ClientInput.ReceivedBinary(target, bytes))
        }
        if (isOld && core.table() != table) throw TapeError("a message of an old connection changed the state")
    }

    /** Delivers a message of the server's side that has the same fields in every form. */
    private fun receive(target: ULong, message: JsonElement) {
        if (form == "bahay.v1.compact") {
            input(ClientInput.ReceivedBinary(target, MessagePack.encode(message)))
        } else {
            input(ClientInput.ReceivedText(target, message.toString()))
        }
    }

    private fun close(code: Int) {
        val closed = socket ?: throw TapeError("there is no connection")
        before = closed
        socket = null
        input(ClientInput.Closed(closed, code.toUShort()))
    }

    /** Advances time with the client's timers, unless the client sleeps. */
    private fun advanceTo(until: Long) {
        if (isAsleep) {
            val slept = max(0, until - now)
            now += slept
            if (stops) ahead -= slept
            if (stops) wallAhead += slept
        }
        isAsleep = false
        var runs = 0
        while (true) {
            val next = nextTimer() ?: break
            if (next > until) break
            runs += 1
            if (runs > RUNS_MAX) throw TapeError("the client's timers do not end")
            now = max(now, next)
            input(ClientInput.Timeout)
        }
        now = max(now, until)
    }

    /** Advances to the next timer, which must be due by `end`. */
    private fun advanceToNextTimer(end: Long) {
        val next = nextTimer()
        if (next == null || next > end) throw TapeError("the client did not connect in time: $link, $next")
        advanceTo(next)
    }

    private fun nextTimer(): Long? = timeoutMs?.let { it - ahead }

    /** Handles an input. An input caused by an effect waits until all effects of its input are handled. */
    private fun input(input: ClientInput) {
        inputs.addLast(input)
        if (inputs.size > 1) return
        while (true) {
            val next = inputs.firstOrNull() ?: break
            val time = now + ahead
            val handled = core.handleInput(ClientTime(time, time + wallAhead), next)
            timeoutMs = handled.timeoutMs
            handled.effects.forEach(::perform)
            link = core.screen(time).link
            inputs.removeFirst()
        }
    }

    private fun perform(effect: ClientEffect) {
        when (effect) {
            is ClientEffect.Open ->
                if (net == "down" || net == "portal") {
                    input(ClientInput.Closed(effect.socket, 1006u))
                } else {
                    waiting += effect.socket
                    requests[effect.socket] = commandsInRequest(effect.url, effect.protocols)
                }
            is ClientEffect.Close -> {
                waiting.remove(effect.socket)
                if (socket == effect.socket) {
                    before = socket
                    socket = null
                }
            }
            is ClientEffect.Send -> receiveCommand(effect.socket, Json.parseToJsonElement(effect.text).jsonObject)
            is ClientEffect.Request -> answer(effect)
            is ClientEffect.Notify -> (effect.notification as? ClientNotification.Ended)?.let(ended::addLast)
            is ClientEffect.Store, is ClientEffect.Called -> {}
        }
    }

    private fun receiveCommand(target: ULong, command: JsonObject) {
        if (command.text("type") == "ping") {
            val ping = command.getValue("id").jsonPrimitive.long
            if (ping < PING_IDS) throw TapeError("the id of a ping is at least a million")
            if (net != "up" || isStale || target != socket) return
            val isFull = form == "bahay.v1"
            receive(target, Json.parseToJsonElement(if (isFull) """{"type":"ack","id":$ping}""" else "[$ping]"))
            return
        }
        if (target != socket) throw TapeError("sent on another connection: $command")
        sent.addLast(command)
    }

    private fun answer(effect: ClientEffect.Request) {
        // A request into a dead network has no answer; the client's own timeout ends it.
        if (net == "dead") return
        if (net == "down") return input(ClientInput.Unanswered(effect.request))
        if (net == "portal") return reply(effect, 200, "<html>", "text/html")
        val body = Json.parseToJsonElement(effect.body ?: "{}").jsonObject
        when {
            effect.url.endsWith("/v1/token/refresh") -> {
                val token = body.text("refresh_token")
                val given = refreshes[token]
                if (given != null && now - given.givenAt < REUSE_MS && given.access in validTokens) {
                    throw TapeError("a token that is seconds old was renewed")
                }
                val successor = refresh(token)
                when {
                    dropsRefreshAnswer -> input(ClientInput.Unanswered(effect.request))
                    successor != null -> reply(effect, 200, successor.toString())
                    else -> {
                        val problem = """{"code":"refresh_token_reused","detail":""}"""
                        reply(effect, 401, problem, "application/problem+json")
                    }
                }
                dropsRefreshAnswer = false
            }
            effect.url.endsWith("/v1/sign-in/guest") -> {
                val player = JsonObject(mapOf("id" to JsonPrimitive(id), "name" to JsonPrimitive("player")))
                reply(effect, 200, JsonObject(issue() + ("player" to player)).toString())
            }
            else -> throw TapeError("an unexpected request: ${effect.url}")
        }
    }

    private fun reply(effect: ClientEffect.Request, status: Int, body: String, type: String = "application/json") {
        input(ClientInput.Answered(effect.request, status.toUShort(), type, body, null))
    }

    /** Returns the successor, repeatedly for a time; null if the token was used long ago. */
    private fun refresh(token: String): JsonObject? {
        val refresh = refreshes[token] ?: throw TapeError("an unknown refresh token")
        refresh.usedAt?.let { if (now - it > REUSE_MS) return null }
        refresh.successor?.let { return it }
        refresh.usedAt = now
        return issue().also { refresh.successor = it }
    }

    private fun issue(): JsonObject {
        tokens += 1
        val access = "access $tokens"
        val refresh = "refresh $tokens"
        validTokens += access
        refreshes[refresh] = Refresh(access, now)
        return JsonObject(
            mapOf(
                "access_token" to JsonPrimitive(access),
                "access_expires_at" to JsonPrimitive(Instant.ofEpochMilli(now + TOKEN_MS).toString()),
                "refresh_token" to JsonPrimitive(refresh),
                "session" to JsonPrimitive("session"),
            ),
        )
    }
}

/** Plays a whole tape; throws an error with the number of the line if the client deviates from it. */
fun playTape(text: String) {
    val lines = text.trimEnd().lines().map { Json.parseToJsonElement(it).jsonObject }
    val player = TapePlayer(lines.first())
    lines.drop(1).forEachIndexed { place, line ->
        try {
            player.play(line)
        } catch (error: TapeError) {
            throw TapeError("line ${place + 2}: ${error.message}\n$line")
        }
    }
    player.assertNothingPending()
}

/** Returns the commands in the request for a socket (docs/PROTOCOL.md, "In the request"). */
private fun commandsInRequest(url: String, protocols: List<String>): List<JsonObject> {
    val commands = mutableListOf<JsonObject>()
    protocols.firstOrNull { it.startsWith(TOKEN_PREFIX) }?.let { protocol ->
        val token = JsonPrimitive(protocol.removePrefix(TOKEN_PREFIX))
        val type = JsonPrimitive("authenticate")
        commands += JsonObject(mapOf("type" to type, "token" to token, "id" to JsonPrimitive(0)))
    }
    val query = url.substringAfter('?', "").split('&').filter { it.isNotEmpty() }.associate { field ->
        val value = URLDecoder.decode(field.substringAfter('='), Charsets.UTF_8)
        val name = field.substringBefore('=')
        name to (if (name == "from") JsonPrimitive(value.toLong()) else JsonPrimitive(value))
    }
    if ("type" in query) commands += JsonObject(query + ("id" to JsonPrimitive(1)))
    return commands
}

private fun nameOf(outcome: CommandOutcome): String =
    when (outcome) {
        is CommandOutcome.Done -> "done"
        is CommandOutcome.Overtaken -> "overtaken"
        is CommandOutcome.Refused -> "refused"
        is CommandOutcome.Dropped -> "dropped"
    }

private fun JsonObject.text(name: String): String = getValue(name).jsonPrimitive.content

private fun assertSame(label: String, found: JsonElement, expected: JsonElement) {
    if (canonical(found) != canonical(expected)) throw TapeError("$label: expected $expected, found $found")
}

private fun digest(value: JsonElement): String {
    val hash = MessageDigest.getInstance("SHA-256").digest(canonical(value).toByteArray())
    return hash.joinToString("") { "%02x".format(it) }.take(DIGEST_DIGITS)
}

/** Returns canonical JSON: keys in order, no spaces, and no nulls in objects. */
private fun canonical(value: JsonElement): String =
    when (value) {
        is JsonArray -> value.jsonArray.joinToString(",", "[", "]", transform = ::canonical)
        is JsonObject ->
            value.filterValues { it !is JsonNull }.toSortedMap().entries.joinToString(",", "{", "}") { (key, field) ->
                "${JsonPrimitive(key)}:${canonical(field)}"
            }
        is JsonPrimitive -> value.toString()
    }
