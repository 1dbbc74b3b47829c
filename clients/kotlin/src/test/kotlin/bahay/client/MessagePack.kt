package bahay.client

import java.io.ByteArrayOutputStream
import java.io.DataOutputStream
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.booleanOrNull
import kotlinx.serialization.json.long

/** Encodes JSON as MessagePack, in the longest form of each value. */
object MessagePack {
    private const val NIL = 0xc0
    private const val FALSE = 0xc2
    private const val TRUE = 0xc3
    private const val INT64 = 0xd3
    private const val STR16 = 0xda
    private const val ARRAY16 = 0xdc
    private const val MAP16 = 0xde

    fun encode(value: JsonElement): ByteArray {
        val bytes = ByteArrayOutputStream()
        write(value, DataOutputStream(bytes))
        return bytes.toByteArray()
    }

    private fun write(value: JsonElement, out: DataOutputStream) {
        when (value) {
            is JsonNull -> out.writeByte(NIL)
            is JsonPrimitive -> writePrimitive(value, out)
            is JsonArray -> {
                out.writeByte(ARRAY16)
                out.writeShort(value.size)
                value.forEach { write(it, out) }
            }
            is JsonObject -> {
                out.writeByte(MAP16)
                out.writeShort(value.size)
                value.forEach { (name, field) ->
                    writeText(name, out)
                    write(field, out)
                }
            }
        }
    }

    private fun writePrimitive(value: JsonPrimitive, out: DataOutputStream) {
        val flag = value.booleanOrNull
        when {
            value.isString -> writeText(value.content, out)
            flag != null -> out.writeByte(if (flag) TRUE else FALSE)
            else -> {
                out.writeByte(INT64)
                out.writeLong(value.long)
            }
        }
    }

    private fun writeText(text: String, out: DataOutputStream) {
        val bytes = text.toByteArray()
        out.writeByte(STR16)
        out.writeShort(bytes.size)
        out.write(bytes)
    }
}
