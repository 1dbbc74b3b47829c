namespace Bahay.Client
{
    /// <summary>The native library of the client core.</summary>
    internal static class NativeLibrary
    {
        /// <summary>Its name for the loader. On iOS it is linked into the app.</summary>
#if UNITY_IOS && !UNITY_EDITOR
        internal const string Name = "__Internal";
#else
        internal const string Name = "bahay_client_ffi";
#endif
    }
}
