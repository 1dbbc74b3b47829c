// Messages that are reported as they arrive. An incomplete one, as of a later version, leads nowhere.
import type { Message } from "../gen/socket.js";

type News = Extract<Message, { type: "invited" | "standing" }>;

/** Returns whether a message has all its values. */
export function isComplete(news: News): boolean {
  if (news.type === "invited") {
    return [news.code, news.from, news.name, news.game].every((field) => typeof field === "string");
  }
  const { tournament, rank, score, tie_break, entrants } = news;
  return typeof tournament === "string" && [rank, score, tie_break, entrants].every(Number.isSafeInteger);
}
