// Screens that are loaded when they are opened, so that no first hand waits for them.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Sheet } from '../parts/index.tsx';
import { say, type Word } from '../words.ts';

/** The time for which nothing is shown while a screen is loaded. */
const QUIET_MS = 250;

interface Closable { onClose: () => void }

/** Returns a screen that is loaded from a file of its own; if that fails, it offers to reload the page. */
export function lazyScreen<Props extends Closable>(title: Word, load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
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
