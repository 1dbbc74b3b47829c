@file:JvmName("Certify")

package bahay.client

import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse
import kotlin.math.abs
import kotlin.system.exitProcess
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import uniffi.bahay_client.ClientNotification
import uniffi.bahay_client.MessageForm

/** The number of versions between two reports of the view. */
private const val REPORT_EVERY = 6uL
private const val POLL_MS = 500L

private val http: HttpClient = HttpClient.newHttpClient()

/**
 * Plays at every scenario of `bahay-lab certify` (docs/CERTIFY.md): is ready for every game, answers each prompt with
 * the first legal action, and reports what the client shows. The first argument is the program `bahay-lab`, further
 * ones are arguments for it.
 */
fun main(arguments: Array<String>) {
    val command = listOf(arguments[0], "certify", "--listen", "127.0.0.1:0", "--seconds", "180") + arguments.drop(1)
    val lab = ProcessBuilder(command).redirectOutput(ProcessBuilder.Redirect.INHERIT).start()
    Runtime.getRuntime().addShutdownHook(Thread(lab::destroy))
    val address = Regex("^scenarios: (http:\\S+)/certify$")
    for (line in lab.errorReader().lines()) {
        val index = address.find(line)?.groupValues?.get(1)
        if (index == null) System.err.println(line) else Thread { runBlocking { playAll(index) } }.start()
    }
    exitProcess(lab.waitFor())
}

/** Plays at every scenario, until each has its verdict. */
private suspend fun playAll(index: String) {
    val forms = MessageForm.entries
    val transport = OkHttpTransport()
    val clients = readScenarios(index).mapIndexed { place, scenario ->
        val base = scenario.getValue("url").jsonPrimitive.content
        ScenarioClient(base, transport, forms[place % forms.size])
    }
    // The certification ends with the last verdict.
    while (runCatching { readScenarios(index) }.getOrDefault(emptyList()).any { it["verdict"] is JsonNull? }) {
        delay(POLL_MS)
    }
    clients.forEach(ScenarioClient::close)
    transport.shutdown()
}

private fun readScenarios(index: String): List<JsonObject> {
    val answer = http.send(HttpRequest.newBuilder(URI("$index/certify")).build(), HttpResponse.BodyHandlers.ofString())
    return Json.parseToJsonElement(answer.body()).jsonObject.getValue("scenarios").jsonArray.map { it.jsonObject }
}

/** A client that plays at one scenario until it is stopped. */
private class ScenarioClient(private val base: String, transport: Transport, form: MessageForm) {
    private val client =
        BahayClient(base, transport, MemorySecretStore(), name = "Certified", forms = listOf(form))
    private val scope = CoroutineScope(Dispatchers.Default.limitedParallelism(1))

    private val answers = TableAnswers(client)
    private var reported = 0uL

    init {
        scope.launch { client.notifications.collect(::report) }
        scope.launch { client.screen.collect { answers.answer(scope) } }
        client.start()
    }

    fun close() {
        client.close()
    }

    private fun report(notification: ClientNotification) {
        if (notification is ClientNotification.Deal) {
            send("""{"deals":[{"game":"${notification.game}","holds":${notification.holds}}]}""")
        } else if (notification is ClientNotification.Table) {
            val table = client.readTable() ?: return
            if (abs(table.version.toLong() - reported.toLong()).toULong() < REPORT_EVERY) return
            reported = table.version
            send("""{"version":${table.version},"view":${table.view}}""")
        }
    }

    /** Sends a report, which is lost with the end of the scenario. */
    private fun send(body: String) {
        val request = HttpRequest.newBuilder(URI("$base/certify/shown"))
        request.POST(HttpRequest.BodyPublishers.ofString(body))
        http.sendAsync(request.build(), HttpResponse.BodyHandlers.discarding())
    }
}
