// The legal actions of Tongo (assets) for the viewer, each once, in the server's order. For free numbers the
// list has examples: the lowest and the highest price, eleven values of a long range of risks, every fifth
// percentage of a leverage, and bribes of one chip or one card. `whyNot` decides about all other values.

import type {
  TongoAssetsAction as Action, TongoAssetsCard as Card, TongoAssetsView as View,
} from "../../gen/socket.js";
import { isAsset, sorted } from "./cards.js";
import {
  HAND_MAX, KEPT_MAX, SLOTS, evasion, isLast, openingRisk, priceBounds, sectionOf, turnOf,
} from "./public.js";
import {
  type Actor, actorOf, canPay, hasRoom, indexed, keeps, leveraged, missing, playerOf, saleOf, slotsOf,
  whyNotConfront,
} from "./why.js";

const RISKS = 11;
const EVADE_CARDS = 3;

export function legal(view: View): Action[] {
  const actor = actorOf(view);
  if (!actor) return [];
  const { open, seat } = actor;
  if (open.offer) return open.offer.to === seat ? [{ type: "accept" }, { type: "refuse" }] : [];
  if (turnOf(open.phase) !== seat) return [];
  return [...ofPhase(actor), { type: "retreat" }, ...bribes(actor)];
}

function ofPhase(actor: Actor): Action[] {
  const { phase } = actor.open;
  switch (phase.type) {
    case "open":
      return openings(actor);
    case "risk":
      return [...pay(actor), ...raises(actor)];
    case "assess":
      return assessing(actor, phase);
    case "confront":
      return [...pay(actor), ...(phase.seat === phase.confronter ? [] : answers(actor))];
    default:
      return pay(actor);
  }
}

function pay(actor: Actor): Action[] {
  const chips = missing(actor);
  return chips !== null && canPay(actor, chips) ? [{ type: "pay" }] : [];
}

function openings(actor: Actor): Action[] {
  const { open, seat } = actor;
  if (isLast(open)) return whyNotConfront(actor) === null ? [{ type: "confront" }] : [];
  const [least, most] = openingRisk(open);
  return risksOf(least, Math.min(most, playerOf(open, seat).chips))
    .flatMap((risk) => pricesOf(risk).map((prices) => ({ type: "open", risk, ...prices }) as const));
}

function raises({ open, seat }: Actor): Action[] {
  const { chips, paid, acted } = playerOf(open, seat);
  if (open.raises >= open.rules.raises_max || acted) return [];
  return risksOf(open.risk + 1, Math.min(open.risk + open.rules.raise_max, chips + paid))
    .flatMap((risk) => pricesOf(risk).map((prices) => ({ type: "raise", risk, ...prices }) as const));
}

/**
 * Returns the risks of a range: all of them if they are few, otherwise evenly spaced from the least to the
 * most.
 */
export function risksOf(least: number, most: number): number[] {
  const span = most - least;
  if (span < 0) return [];
  if (span < RISKS) return Array.from({ length: span + 1 }, (_, more) => least + more);
  return Array.from({ length: RISKS }, (_, place) => least + Math.floor(span / (RISKS - 1)) * place);
}

function pricesOf(risk: number): { purchase: number; sell: number }[] {
  const { purchaseMin, max } = priceBounds(risk);
  return [...new Set([purchaseMin, max])].flatMap((purchase) =>
    [...new Set([max, 1])].map((sell) => ({ purchase, sell })));
}

function assessing(actor: Actor, { swapped, sold }: { swapped: boolean; sold: boolean }): Action[] {
  const { open, hand } = actor;
  const slots = slotsOf(actor);
  const isFull = hand.length === HAND_MAX;
  const actions: Action[] = [];
  if (!swapped) {
    for (const discard of hand.filter(isAsset)) {
      for (const slot of slots) actions.push({ type: "swap", discard, slot });
    }
  }
  const acquires = open.sections[sectionOf(open, actor.seat)]?.acquires ?? 0;
  for (const free of [false, true]) {
    if (free ? !keeps(actor, "F") : !canPay(actor, open.purchase)) continue;
    const freely = free ? { free } : {};
    const discards: (Card | null)[] = isFull ? [...hand] : [null];
    for (const slot of slots) {
      for (const discard of discards) {
        actions.push({ type: "purchase", slot, ...(discard === null ? {} : { discard }), ...freely });
      }
    }
    if (acquires === 0 || actor.kept.length - (free ? 1 : 0) >= KEPT_MAX) continue;
    for (const replace of discards) {
      actions.push({ type: "acquire", ...(replace === null ? {} : { replace }), ...freely });
    }
  }
  if (!sold && saleOf(actor) > 0 && canPay(actor, open.sell)) {
    for (const chosen of choices(slots, SLOTS, saleOf(actor))) actions.push({ type: "sell", slots: chosen });
  }
  if (keeps(actor, "V")) {
    for (let section = 0; section < open.rules.sections; section += 1) {
      if (section !== sectionOf(open, actor.seat)) actions.push({ type: "reveal", section });
    }
  }
  if (keeps(actor, "D")) actions.push({ type: "dividend" });
  if (whyNotConfront(actor) === null) actions.push({ type: "confront" });
  actions.push({ type: "done" });
  return actions;
}

/** Returns the circle's answers to a confront, beside paying and retreating (rules 4.1, 4.4, 4.5). */
function answers(actor: Actor): Action[] {
  const { open, hand, seat } = actor;
  const { rules, risk, unindexed } = open;
  const { chips } = playerOf(open, seat);
  const mayRaise = open.raises < rules.raises_max;
  const actions: Action[] = [];
  if (mayRaise) {
    for (const more of risksOf(risk + 1, Math.min(risk + rules.raise_max, chips))) {
      actions.push({ type: "raise_confront", risk: more });
    }
  }
  if (chips >= evasion(open)) {
    const places = hand.map((_, place) => place);
    for (const chosen of choices(places, hand.length, EVADE_CARDS)) {
      actions.push({ type: "evade", discards: chosen.map((place) => hand[place] ?? "") });
    }
  }
  if (rules.margins && mayRaise && chips >= (unindexed ?? risk)) {
    for (let margin = 5; margin <= 50; margin += 5) {
      if (indexed(risk, margin) > risk) actions.push({ type: "index", margin });
    }
  }
  if (rules.leverage) {
    for (let percent = 5; percent <= 95; percent += 5) {
      if (chips >= leveraged(risk, percent)) actions.push({ type: "leverage", percent });
    }
  }
  return actions;
}

function bribes(actor: Actor): Action[] {
  const { open, seat, hand, kept } = actor;
  if (!open.rules.bribes || open.offered) return [];
  return open.playing.filter((to) => to !== seat).flatMap((to): Action[] => [
    ...(playerOf(open, seat).chips > 0 ? [{ type: "bribe", to, chips: 1 } as const] : []),
    ...sorted([...hand, ...kept]).filter((card) => hasRoom(open, to, [card]))
      .map((card) => ({ type: "bribe", to, cards: [card] }) as const),
  ]);
}

/** Returns the choices of `wanted` places below `end`, by ascending bits. */
function choices(places: readonly number[], end: number, wanted: number): number[][] {
  const all: number[][] = [];
  for (let bits = 0; bits < 1 << end; bits += 1) {
    const some = Array.from({ length: end }, (_, place) => place).filter((place) => bits >> place & 1);
    if (some.length === wanted && some.every((place) => places.includes(place))) all.push(some);
  }
  return all;
}
