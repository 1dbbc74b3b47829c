package house.example.table

import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.FlowRow
import androidx.compose.foundation.layout.Row
import androidx.compose.foundation.layout.fillMaxSize
import androidx.compose.foundation.layout.padding
import androidx.compose.material3.AssistChip
import androidx.compose.material3.Button
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.Text
import androidx.compose.runtime.Composable
import androidx.compose.runtime.getValue
import androidx.compose.ui.Modifier
import androidx.compose.ui.draw.alpha
import androidx.compose.ui.unit.dp
import androidx.lifecycle.compose.collectAsStateWithLifecycle
import uniffi.bahay_client.SeatModel
import uniffi.bahay_client.SeatPresence
import uniffi.bahay_client.TableModel

private const val OUTDATED_ALPHA = 0.5f
private const val MS_PER_SECOND = 1_000

/** A table: seats, the own hand, and a button for each legal action. */
@Composable
fun TableScreen(model: TableViewModel) {
    val screen by model.screen.collectAsStateWithLifecycle()
    val table = screen.table
    Column(Modifier.fillMaxSize().padding(16.dp), Arrangement.spacedBy(12.dp)) {
        if (screen.link != "live") Text("Connecting …", color = MaterialTheme.colorScheme.error)
        when {
            table == null -> Button(onClick = { model.practise() }) { Text("Practise") }
            else -> Table(table, model)
        }
    }
}

@Composable
private fun Table(table: TableModel, model: TableViewModel) {
    Column(Modifier.alpha(if (table.isCurrent) 1f else OUTDATED_ALPHA), Arrangement.spacedBy(12.dp)) {
        Row(horizontalArrangement = Arrangement.spacedBy(8.dp)) { table.seats.forEach { Seat(it) } }
        table.countdown?.let { Text("${it.leftMs / MS_PER_SECOND} s") }
        table.lines.forEach { line -> Text("${line.label}: ${line.text}") }
        FlowRow { table.hand.forEach { card -> Text(card, Modifier.padding(4.dp)) } }
        if (table.phase == "preparing") Button(onClick = { model.ready() }) { Text("Ready") }
        FlowRow(horizontalArrangement = Arrangement.spacedBy(8.dp)) {
            table.actions.forEach { action ->
                Button(onClick = { model.act(table, action) }) { Text(action.words) }
            }
        }
        table.settlement?.payments?.forEach { payment ->
            Text("Seat ${payment.payer + 1u} pays seat ${payment.payee + 1u}: ${payment.paid / 100.0}")
        }
    }
}

@Composable
private fun Seat(seat: SeatModel) {
    val state = when (seat.presence) {
        SeatPresence.FREE -> "free"
        SeatPresence.PRESENT, SeatPresence.BOT -> ""
        SeatPresence.RECONNECTING -> " · reconnecting"
        SeatPresence.TAKEN_OVER -> " · played by the AI"
    }
    val turn = if (seat.isPrompted) "▶ " else ""
    AssistChip(onClick = {}, label = { Text(turn + (seat.name ?: "") + state) })
}
