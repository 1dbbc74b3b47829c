// Screens that are loaded when they are opened, so that no first hand waits for them.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Sheet } from '../parts/index.tsx';
import { say, type Word } from '../words.ts';

/** So long nothing is shown instead of it. */
const QUIET_MS = 250;

interface Closable { onClose: () => void }

/** A screen by that name, out of a file of its own; where that cannot be had, loading the page again helps. */
export function later<Props extends Closable>(title: Word, load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let known: ComponentType<Props> | null = null;
  return function Later(props: Props) {
    const [Screen, setScreen] = useState<ComponentType<Props> | null>(() => known);
    const [state, setState] = useState<'quiet' | 'slow' | 'failed'>('quiet');
    useEffect(() => {
      if (Screen) return;
      const timer = setTimeout(() => setState('slow'), QUIET_MS);
      void load().then((found) => { known = found; setScreen(() => found); }, () => setState('failed')).finally(() => clearTimeout(timer));
      return () => clearTimeout(timer);
    }, []);
    if (Screen) return <Screen {...props} />;
    if (state === 'quiet') return null;
    return (
      <Sheet title={say(title)} onClose={props.onClose}>
        {state === 'slow' ? <p>{say('loading')}</p> : (
          <><p role="alert">{say('screen_failed')}</p>
            <button type="button" class="act gold" onClick={() => location.reload()}>{say('reload')}</button></>
        )}
      </Sheet>
    );
  };
}
