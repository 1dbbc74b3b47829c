// Reads and writes the browser's storage for this page. The page works without it, so failures are ignored.

type Area = 'session' | 'local';

function area(name: Area): Storage {
  return name === 'session' ? sessionStorage : localStorage;
}

export function kept<T>(name: Area, key: string): T | null {
  try {
    return JSON.parse(area(name).getItem(`bahay.${key}`) ?? 'null') as T | null;
  } catch {
    return null;
  }
}

/** Stores a value; null removes it. */
export function keepIn(name: Area, key: string, value: unknown) {
  try {
    if (value === null) area(name).removeItem(`bahay.${key}`);
    else area(name).setItem(`bahay.${key}`, JSON.stringify(value));
  } catch {
    // The value is lost with the page.
  }
}
