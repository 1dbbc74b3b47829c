// What a component shows once it is loaded; it does without where that cannot be had.
import { useEffect, useState } from 'preact/hooks';

/** `load` is called anew when `key` changes; with null for a key nothing is loaded. */
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
