package bahay.client

import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.launch
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive

/** Plays at the table of a client: is ready for each game, and answers each prompt with the first legal action. */
internal class TableAnswers(private val client: BahayClient) {
    // Each prompt is answered once, and each game is played.
    private val answered = mutableSetOf<String>()

    /** Answers what the table asks now, in a coroutine of this scope. */
    fun answer(scope: CoroutineScope) {
        val table = client.readTable()?.takeIf { it.isCurrent } ?: return
        val phase = Json.parseToJsonElement(table.view).jsonObject.getValue("phase").jsonObject
        if (phase.getValue("type").jsonPrimitive.content == "preparing") {
            if (answered.add(phase.getValue("game").jsonPrimitive.content)) scope.launch { client.ready() }
        }
        val prompt = Json.parseToJsonElement(table.prompt ?: return).jsonObject
        val action = prompt.getValue("legal").jsonArray.firstOrNull() ?: return
        val question = "${prompt["game"]} ${prompt["number"]}"
        if (answered.add(question)) scope.launch { runCatching { client.act(action.toString()) } }
    }
}
