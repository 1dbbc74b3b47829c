using System;
using System.IO;
using System.Linq;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Emit;

/// <summary>Compiles C# by the Roslyn beside this program. Its arguments are those of <c>csc</c>.</summary>
internal static class Compile
{
    private static int Main(string[] arguments)
    {
        CSharpCommandLineArguments options =
            CSharpCommandLineParser.Default.Parse(arguments, Directory.GetCurrentDirectory(), null);
        var compilation = CSharpCompilation.Create(
            Path.GetFileNameWithoutExtension(options.OutputFileName),
            options.SourceFiles.Select(file =>
                CSharpSyntaxTree.ParseText(File.ReadAllText(file.Path), options.ParseOptions, file.Path)),
            options.MetadataReferences.Select(one => MetadataReference.CreateFromFile(one.Reference)),
            options.CompilationOptions);
        string path = Path.Combine(options.OutputDirectory, options.OutputFileName);
        EmitResult result;
        using (Stream output = File.Create(path)) result = compilation.Emit(output);
        Diagnostic[] found = options.Errors.Concat(result.Diagnostics)
            .Where(one => one.Severity >= DiagnosticSeverity.Warning && !one.IsSuppressed)
            .ToArray();
        foreach (Diagnostic one in found) Console.Error.WriteLine(one);
        if (result.Success && found.Length == 0) return 0;
        File.Delete(path);
        return 1;
    }
}
