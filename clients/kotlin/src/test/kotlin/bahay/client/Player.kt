@file:JvmName("Player")

package bahay.client

import kotlin.system.exitProcess
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.onEach
import kotlinx.coroutines.flow.takeWhile
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import uniffi.bahay_client.CallAnswer

/**
 * Plays games with the first legal action, and prints a line of JSON at each settlement:
 *
 *     Player http://127.0.0.1:8080 --games 1 [--room newbie]
 *
 * Without a room, the games are those of a practice table.
 */
fun main(arguments: Array<String>): Unit = runBlocking {
    val options = arguments.drop(1).chunked(2).associate { (name, value) -> name to value }
    val games = options["--games"]?.toInt() ?: 1
    val room = options["--room"]
    val transport = OkHttpTransport()
    val client = BahayClient(arguments[0], transport, MemorySecretStore(), name = "Kotlin")
    client.start()
    client.screen.first { it.player != null }
    val seat = if (room == null) client.practise("tongits") else client.takeSeat(room)
    if (seat is CallAnswer.Refused) {
        System.err.println("refused: ${seat.code}")
        exitProcess(1)
    }
    var settled = 0
    var last: Pair<String, ULong>? = null
    client.screen
        .onEach { screen ->
            val table = screen.table ?: return@onEach
            val state = table.phase to table.version
            if (state == last) return@onEach
            last = state
            when {
                table.phase == "settling" -> {
                    settled += 1
                    println("""{"client":"kotlin","settled":$settled,"winner":${table.settlement?.winner}}""")
                }
                table.phase == "preparing" && settled < games -> launch { client.ready() }
                table.actions.isNotEmpty() -> launch { client.act(table, table.actions.first()) }
            }
        }
        .takeWhile { settled < games }
        .collect {}
    client.leave()
    client.close()
    transport.shutdown()
    exitProcess(0)
}
