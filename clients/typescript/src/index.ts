// The package's public API.

export type * from "./core/types.js";
export type * from "./gen/socket.js";
export type * as Rest from "./gen/rest.js";
export { CLOSE_CODES, LIMITS } from "./gen/socket.js";
export { Core } from "./core/core.js";
export { FORMS, type Form, MessageReader } from "./core/wire.js";
export { observe, promptOf } from "./core/observe.js";
export {
  Client, type ClientOptions, type Listener, type RestAnswer, type RestArguments,
} from "./driver/client.js";
export {
  type HttpRequest, type NodeParts, type Platform, type Socket, type SocketEvents,
  type WebSocketClass, browserPlatform, nodePlatform,
} from "./driver/platform.js";
export { type KeyValueStore, type ReactNativeParts, reactNativePlatform } from "./driver/react_native.js";
export { GAMES, modelOf } from "./games/index.js";
export type { GameModel, GamePrompt, ShortEvents } from "./games/model.js";
export * as tongits from "./games/tongits/index.js";
export * as tongoAssets from "./games/tongo_assets/index.js";
export * as tongoOptions from "./games/tongo_options/index.js";
export {
  type CheckStep, type DealCheck, type DealRecord, checkRecordedDeal, commitmentOf, commitmentTo,
  dealIdOf, dealKey, kindOf,
} from "./fair/deal.js";
export { Stream } from "./fair/chacha20.js";
export { hmacSha256, sha256 } from "./fair/sha256.js";
