using System;
using System.IO;
using System.Linq;
using System.Threading.Tasks;

namespace Bahay.Client.Tests
{
    /// <summary>
    /// Runs the tests of the C# client: <c>tests TAPES…</c> plays all tapes of the folders and tests the layer, and
    /// <c>tests --certify BAHAY_LAB|ADDRESS</c> plays at every scenario of a certification.
    /// </summary>
    internal static class Tests
    {
        private static int passed;
        private static int failed;

        private static async Task<int> Main(string[] arguments)
        {
            if (arguments.Length == 2 && arguments[0] == "--certify") return await Certify.RunAsync(arguments[1]);
            foreach ((string name, Func<Task> test) in LayerTests.All) await RunAsync(name, test);
            int shows = 0;
            foreach (string tape in arguments.SelectMany(folder => Directory.GetFiles(folder, "*.jsonl")).OrderBy(name => name))
            {
                await RunAsync(Path.GetFileName(tape), () => Task.FromResult(shows += TapePlayer.Play(tape)));
            }
            Console.WriteLine($"{shows} states of tapes compared");
            Console.WriteLine($"{passed} passed, {failed} failed");
            return failed == 0 ? 0 : 1;
        }

        private static async Task RunAsync(string name, Func<Task> test)
        {
            try
            {
                await test();
                passed += 1;
            }
            catch (Exception fault)
            {
                failed += 1;
                Console.Error.WriteLine($"{name}: {(fault is TapeException ? fault.Message : fault.ToString())}");
            }
        }
    }
}
