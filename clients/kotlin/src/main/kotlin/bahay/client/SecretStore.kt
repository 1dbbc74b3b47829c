package bahay.client

import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.StandardCopyOption
import java.nio.file.attribute.PosixFilePermissions
import java.util.Properties
import uniffi.bahay_client.StoredKey
import uniffi.bahay_client.StoredValue

/** The secure storage of one installation. All values are secret. */
public interface SecretStore {
    public fun load(): List<StoredValue>

    /** Stores a value; null removes it. */
    public fun store(key: StoredKey, value: String?)
}

/** A store that is lost with the process. */
public class MemorySecretStore : SecretStore {
    private val values = mutableMapOf<StoredKey, String>()

    @Synchronized
    override fun load(): List<StoredValue> = values.map { (key, value) -> StoredValue(key, value) }

    @Synchronized
    override fun store(key: StoredKey, value: String?) {
        if (value == null) values.remove(key) else values[key] = value
    }
}

/**
 * A store in a file that only its owner may read. A write replaces the file, so that an interrupted one loses nothing.
 * Phones have better places: the Android sample uses the Keystore.
 */
public class FileSecretStore(private val path: Path) : SecretStore {
    private val values = Properties()

    init {
        if (Files.exists(path)) Files.newBufferedReader(path).use(values::load)
    }

    @Synchronized
    override fun load(): List<StoredValue> =
        StoredKey.entries.mapNotNull { key -> values.getProperty(key.name)?.let { StoredValue(key, it) } }

    @Synchronized
    override fun store(key: StoredKey, value: String?) {
        if (value == null) values.remove(key.name) else values.setProperty(key.name, value)
        val owner = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
        val written = Files.createTempFile(path.toAbsolutePath().parent, path.fileName.toString(), null, owner)
        Files.newBufferedWriter(written).use { values.store(it, null) }
        Files.move(written, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING)
    }
}
