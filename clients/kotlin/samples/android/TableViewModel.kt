package house.example.table

import android.content.Context
import android.net.ConnectivityManager
import android.net.Network
import android.os.SystemClock
import android.security.keystore.KeyGenParameterSpec
import android.security.keystore.KeyProperties
import android.util.Base64
import androidx.lifecycle.DefaultLifecycleObserver
import androidx.lifecycle.LifecycleOwner
import androidx.lifecycle.ProcessLifecycleOwner
import androidx.lifecycle.ViewModel
import androidx.lifecycle.viewModelScope
import bahay.client.BahayClient
import bahay.client.Clocks
import bahay.client.OkHttpTransport
import bahay.client.SecretStore
import java.security.KeyStore
import javax.crypto.Cipher
import javax.crypto.KeyGenerator
import javax.crypto.SecretKey
import javax.crypto.spec.GCMParameterSpec
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.launch
import uniffi.bahay_client.ActionModel
import uniffi.bahay_client.ClientTime
import uniffi.bahay_client.ScreenModel
import uniffi.bahay_client.StoredKey
import uniffi.bahay_client.StoredValue
import uniffi.bahay_client.TableModel

/** The client of the app, which lives as long as its process. It connects while the app is visible. */
class TableViewModel(context: Context) : ViewModel(), DefaultLifecycleObserver {
    private val clocks = Clocks { ClientTime(SystemClock.elapsedRealtime(), System.currentTimeMillis()) }
    private val client =
        BahayClient("https://house.example", OkHttpTransport(), KeystoreSecretStore(context), clocks, name = "Maria")
    private val networks = context.getSystemService(ConnectivityManager::class.java)
    private val networkWatch = object : ConnectivityManager.NetworkCallback() {
        override fun onAvailable(network: Network) = client.wake()
    }

    val screen: StateFlow<ScreenModel> = client.screen

    init {
        ProcessLifecycleOwner.get().lifecycle.addObserver(this)
        networks.registerDefaultNetworkCallback(networkWatch)
    }

    override fun onStart(owner: LifecycleOwner) {
        client.start()
        client.wake()
    }

    /** The connection is kept for a while by the system; a push message wakes the app when it is asked again. */
    override fun onStop(owner: LifecycleOwner) = client.wake()

    fun practise() = viewModelScope.launch { client.practise("tongits") }

    fun ready() = viewModelScope.launch { client.ready() }

    fun act(table: TableModel, action: ActionModel) = viewModelScope.launch { client.act(table, action) }

    override fun onCleared() {
        networks.unregisterNetworkCallback(networkWatch)
        ProcessLifecycleOwner.get().lifecycle.removeObserver(this)
        client.close()
    }
}

/** Values encrypted with a key that never leaves the Keystore. */
class KeystoreSecretStore(context: Context) : SecretStore {
    private val values = context.getSharedPreferences("bahay", Context.MODE_PRIVATE)

    override fun load(): List<StoredValue> =
        StoredKey.entries.mapNotNull { key -> values.getString(key.name, null)?.let { StoredValue(key, decrypt(it)) } }

    override fun store(key: StoredKey, value: String?) {
        values.edit().run { if (value == null) remove(key.name) else putString(key.name, encrypt(value)) }.apply()
    }

    private fun encrypt(text: String): String {
        val cipher = Cipher.getInstance(TRANSFORMATION).apply { init(Cipher.ENCRYPT_MODE, findKey()) }
        return Base64.encodeToString(cipher.iv + cipher.doFinal(text.toByteArray()), Base64.NO_WRAP)
    }

    private fun decrypt(text: String): String {
        val bytes = Base64.decode(text, Base64.NO_WRAP)
        val parameters = GCMParameterSpec(TAG_BITS, bytes, 0, IV_BYTES)
        val cipher = Cipher.getInstance(TRANSFORMATION).apply { init(Cipher.DECRYPT_MODE, findKey(), parameters) }
        return cipher.doFinal(bytes, IV_BYTES, bytes.size - IV_BYTES).decodeToString()
    }

    private fun findKey(): SecretKey {
        val store = KeyStore.getInstance(PROVIDER).apply { load(null) }
        (store.getKey(ALIAS, null) as? SecretKey)?.let { return it }
        val purposes = KeyProperties.PURPOSE_ENCRYPT or KeyProperties.PURPOSE_DECRYPT
        val parameters = KeyGenParameterSpec.Builder(ALIAS, purposes)
            .setBlockModes(KeyProperties.BLOCK_MODE_GCM)
            .setEncryptionPaddings(KeyProperties.ENCRYPTION_PADDING_NONE)
            .build()
        return KeyGenerator.getInstance(KeyProperties.KEY_ALGORITHM_AES, PROVIDER).apply { init(parameters) }.generateKey()
    }

    private companion object {
        const val PROVIDER = "AndroidKeyStore"
        const val ALIAS = "bahay"
        const val TRANSFORMATION = "AES/GCM/NoPadding"
        const val IV_BYTES = 12
        const val TAG_BITS = 128
    }
}
