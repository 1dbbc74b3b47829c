#nullable enable

using System.Collections.Concurrent;
using System.IO;
using System.Text;

namespace Bahay.Client
{
    /// <summary>
    /// Stores the client's secrets over a restart. The methods are called one at a time, on any thread. An exception
    /// of <see cref="Save"/> is logged, and the client goes on without the stored value.
    /// </summary>
    public interface ISecretStore
    {
        /// <summary>Returns the stored value; null without one.</summary>
        string? Load(StoredKey key);

        /// <summary>Stores a value; null removes it.</summary>
        void Save(StoredKey key, string? value);
    }

    /// <summary>Keeps secrets in memory: each run of the program is a new guest.</summary>
    public sealed class MemorySecretStore : ISecretStore
    {
        private readonly ConcurrentDictionary<StoredKey, string> _values = new ConcurrentDictionary<StoredKey, string>();

        /// <inheritdoc/>
        public string? Load(StoredKey key) => _values.TryGetValue(key, out string? value) ? value : null;

        /// <inheritdoc/>
        public void Save(StoredKey key, string? value)
        {
            if (value == null) _values.TryRemove(key, out _);
            else _values[key] = value;
        }
    }

    /// <summary>
    /// Keeps each secret in a file of a folder that only this user or app may read. The values are not encrypted: an
    /// app on a phone implements <see cref="ISecretStore"/> by the keychain or the keystore instead.
    /// </summary>
    public sealed class FileSecretStore : ISecretStore
    {
        private readonly string _folder;

        /// <summary>Uses a folder, which is created if it is missing.</summary>
        public FileSecretStore(string folder)
        {
            _folder = folder;
            Directory.CreateDirectory(folder);
        }

        /// <inheritdoc/>
        public string? Load(StoredKey key)
        {
            string path = PathOf(key);
            return File.Exists(path) ? File.ReadAllText(path, Encoding.UTF8) : null;
        }

        /// <summary>Replaces the file as a whole, so that an interrupted write leaves the former value.</summary>
        public void Save(StoredKey key, string? value)
        {
            string path = PathOf(key);
            if (value == null)
            {
                File.Delete(path);
                return;
            }
            string written = path + ".new";
            File.WriteAllText(written, value, new UTF8Encoding(false));
            if (File.Exists(path)) File.Replace(written, path, null);
            else File.Move(written, path);
        }

        private string PathOf(StoredKey key) => Path.Combine(_folder, key.ToString().ToLowerInvariant() + ".secret");
    }
}
