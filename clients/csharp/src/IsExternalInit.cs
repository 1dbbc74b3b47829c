#if !NET5_0_OR_GREATER
namespace System.Runtime.CompilerServices
{
    /// <summary>Lets the compiler write records for frameworks before .NET 5, Unity's among them.</summary>
    internal static class IsExternalInit
    {
    }
}
#endif
