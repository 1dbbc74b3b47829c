// The rules of a game on one page, for new players. The game provides its texts and pictures. Loaded on
// demand.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { titleOf } from './games/list.ts';
import { loadGame } from './games/loading.ts';
import type { Terms } from './model.ts';
import { Sheet } from './parts/index.tsx';
import { language, say } from './words.ts';

/** A text in English and in Filipino. */
export type Pair = readonly [english: string, filipino: string];

/** An example: pieces that lie together, with a name and a note. */
export interface Example { pieces: readonly string[]; name: Pair; note?: Pair }

export interface RuleSection { title: Pair; text: readonly Pair[]; examples?: readonly Example[] }

export interface RulesPage {
  sections: readonly RuleSection[];
  /** Draws one piece of an example, with a name for screen readers. */
  Piece: ComponentType<{ of: string }>;
}

/**
 * The sheet with the rules; `terms` are those of the table, and without a table the usual rules are shown.
 */
export function RulesSheet({ kind, terms, onClose }: { kind: string; terms: Terms | null; onClose: () => void }) {
  const [page, setPage] = useState<RulesPage | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    let alive = true;
    loadGame(kind).then((folder) => folder ? folder.rules(terms) : Promise.reject(new Error(kind)))
      .then((got) => { if (alive) setPage(got); }, () => { if (alive) setFailed(true); });
    return () => { alive = false; };
  }, [kind]);
  const text = (pair: Pair) => pair[language.value === 'en' ? 0 : 1];
  return (
    <Sheet title={`${say('rules')}: ${titleOf(kind)}`} onClose={onClose} wide>
      {page ? (
        <div class="rules-page">
          {page.sections.map(({ title, text: lines, examples }) => (
            <section key={title[0]}>
              <h3>{text(title)}</h3>
              {lines.map((line) => <p key={line[0]}>{text(line)}</p>)}
              {examples ? (
                <ul class="rules-examples">
                  {examples.map(({ pieces, name, note }) => (
                    <li key={name[0]}>
                      <span class="rules-pieces">{pieces.map((piece, i) => <page.Piece key={i} of={piece} />)}</span>
                      <span><b>{text(name)}</b>{note ? <small>{text(note)}</small> : null}</span>
                    </li>
                  ))}
                </ul>
              ) : null}
            </section>
          ))}
        </div>
      ) : <p role="status">{say(failed ? 'screen_failed' : 'loading')}</p>}
    </Sheet>
  );
}
