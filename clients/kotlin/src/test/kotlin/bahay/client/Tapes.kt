@file:JvmName("Tapes")

package bahay.client

import java.nio.file.Files
import java.nio.file.Path
import kotlin.io.path.extension
import kotlin.io.path.name
import kotlin.io.path.readText
import kotlin.system.exitProcess

/** Plays every tape of the folders in the arguments, and exits with 1 if the client deviates from any. */
fun main(folders: Array<String>) {
    val tapes = folders.flatMap { folder ->
        Files.list(Path.of(folder)).use { files -> files.filter { it.extension == "jsonl" }.sorted().toList() }
    }
    if (tapes.isEmpty()) {
        System.err.println("there are no tapes in ${folders.joinToString()}")
        exitProcess(1)
    }
    val failures = tapes.mapNotNull { tape ->
        runCatching { playTape(tape.readText()) }.exceptionOrNull()?.let { "${tape.name}: ${it.message}" }
    }
    failures.forEach(System.err::println)
    println("${tapes.size - failures.size} of ${tapes.size} tapes played")
    if (failures.isNotEmpty()) exitProcess(1)
}
