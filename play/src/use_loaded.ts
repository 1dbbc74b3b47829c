// A hook for lazily loaded parts of a component, which works without them if they are not available.
import { useEffect, useState } from 'preact/hooks';

/** Returns the loaded part. `load` is called again when `key` changes; nothing is loaded for a null key. */
export function useLoaded<Part>(key: string | null, load: () => Promise<Part> | undefined): Part | null {
  const [part, setPart] = useState<{ key: string; part: Part } | null>(null);
  useEffect(() => {
    if (key === null) return;
    let alive = true;
    load()?.then((got) => { if (alive) setPart({ key, part: got }); }, () => {});
    return () => { alive = false; };
  }, [key]);
  return part?.key === key ? part?.part ?? null : null;
}
