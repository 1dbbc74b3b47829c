// The parts of Unity that the sample uses, so that it is compiled without Unity. They do nothing.
namespace UnityEngine
{
    public enum NetworkReachability
    {
        NotReachable,
        ReachableViaCarrierDataNetwork,
        ReachableViaLocalAreaNetwork,
    }

    public sealed class SerializeField : System.Attribute
    {
    }

    public class MonoBehaviour
    {
    }

    public static class Application
    {
        public static string persistentDataPath => "";

        public static NetworkReachability internetReachability => default;
    }

    public static class Debug
    {
        public static void Log(object message)
        {
        }
    }

    public static class Mathf
    {
        public static float Max(float one, float other) => System.Math.Max(one, other);
    }

    public static class GUI
    {
        public static bool enabled { get; set; }
    }

    public static class GUILayout
    {
        public static void Label(string text)
        {
        }

        public static bool Button(string text) => false;
    }
}
