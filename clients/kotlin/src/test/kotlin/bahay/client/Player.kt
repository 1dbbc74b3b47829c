@file:JvmName("Player")

package bahay.client

import kotlin.system.exitProcess
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.flow.takeWhile
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import uniffi.bahay_client.CallAnswer
import uniffi.bahay_client.ClientNotification

/**
 * Plays games as a guest, each prompt with the first legal action, and prints each settlement as a line of JSON
 * (scripts/together.py):
 *
 *     Player http://127.0.0.1:8080 --games 1 [--room newbie]
 *
 * Without a room, the games are those of a practice table.
 */
fun main(arguments: Array<String>): Unit = runBlocking {
    val options = arguments.drop(1).chunked(2).associate { (name, value) -> name to value }
    val transport = OkHttpTransport()
    val client = BahayClient(arguments[0], transport, MemorySecretStore(), name = "Kotlin")
    val player = GamePlayer(client, options["--games"]?.toInt() ?: 1)
    val playing = launch { client.notifications.takeWhile { player.handle(this, it) }.collect {} }
    client.start()
    val seat = options["--room"]?.let { client.takeSeat(it) } ?: client.practise("tongits")
    if (seat is CallAnswer.Refused) {
        System.err.println("refused: ${seat.code}")
        exitProcess(1)
    }
    playing.join()
    client.leave()
    client.close()
    transport.shutdown()
    exitProcess(0)
}

private class GamePlayer(private val client: BahayClient, private var games: Int) {
    private val answers = TableAnswers(client)

    /** Prints settlements and answers the table. Returns false once the games are played. */
    fun handle(scope: CoroutineScope, notification: ClientNotification): Boolean {
        if (notification is ClientNotification.Table) notification.events.forEach(::printSettlement)
        if (games > 0) answers.answer(scope)
        return games > 0
    }

    private fun printSettlement(text: String) {
        val event = Json.parseToJsonElement(text).jsonObject
        if (event.getValue("type").jsonPrimitive.content != "over") return
        val table = client.readTable() ?: return
        val printed = mapOf(
            "table" to Json.parseToJsonElement(table.view).jsonObject.getValue("table"),
            "game" to event.getValue("game"),
            "settlement" to event.getValue("settlement"),
        )
        println(JsonObject(printed))
        games -= 1
    }
}
