// The guide through a first game: one lesson at a time beside the hand, while there is no time pressure. The
// game's folder has the lessons. Loaded when it is shown.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { lessonMarks } from './advice.tsx';
import { loadedFolder } from './games/loading.ts';
import { storeValue, loadStored } from './storage.ts';
import { useLoaded } from './use_loaded.ts';
import type { TableState } from './model.ts';
import { say } from './words.ts';

interface Read { table: string; names: readonly string[] }

/** The lessons read at this table. */
const read = signal<Read>(loadStored('session', 'lessons') ?? { table: '', names: [] });

function finish(table: string, name: string) {
  const names = read.value.table === table ? read.value.names : [];
  if (names.includes(name)) return;
  read.value = { table, names: [...names, name] };
  storeValue('session', 'lessons', read.value);
}

export function Guide({ state }: { state: TableState }) {
  const { view, prompt } = state;
  const lessons = useLoaded(view.kind, () => loadedFolder(view.kind)?.lessons?.());
  const names = read.value.table === view.table ? read.value.names : [];
  const now = lessons?.(state).find((lesson) => !names.includes(lesson.name)) ?? null;
  // A player who performs the lesson's action needs no button to close it.
  useEffect(() => {
    if (!now?.marks.some((mark) => mark.includes('data-act'))) return;
    return () => finish(view.table, now.name);
  }, [prompt?.number, now?.name]);
  const marks = now?.marks.join('\n') ?? null;
  useEffect(() => {
    lessonMarks.value = marks === null ? null : marks.split('\n').filter((mark) => mark !== '');
    return () => { lessonMarks.value = null; };
  }, [marks]);
  if (!now) return null;
  return (
    <section class="guide" aria-label={say('guide')} aria-live="polite" data-lesson={now.name}>
      <b>{now.title}</b>
      <p>{now.text}</p>
      <button type="button" class="act gold" onClick={() => finish(view.table, now.name)}>{say('got_it')}</button>
    </section>
  );
}
