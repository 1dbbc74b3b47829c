// swift-tools-version:5.9
import PackageDescription

// The native library is a framework for devices and simulators, built as README.md states. Its module carries the
// generated header.
let package = Package(
    name: "BahayClient",
    platforms: [.iOS(.v15), .macOS(.v12)],
    products: [.library(name: "BahayClient", targets: ["BahayClient"])],
    targets: [
        .binaryTarget(name: "bahay_clientFFI", path: "bahay_clientFFI.xcframework"),
        .target(
            name: "BahayClient",
            dependencies: ["bahay_clientFFI"],
            exclude: ["Generated/bahay_clientFFI.h", "Generated/bahay_clientFFI.modulemap"]
        ),
    ]
)
