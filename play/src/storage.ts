// Reads and writes the browser's storage for this page. The page works without it, so failures are ignored.

type Area = 'session' | 'local';

function storageOf(name: Area): Storage {
  return name === 'session' ? sessionStorage : localStorage;
}

export function loadStored<T>(name: Area, key: string): T | null {
  try {
    return JSON.parse(storageOf(name).getItem(`bahay.${key}`) ?? 'null') as T | null;
  } catch {
    return null;
  }
}

/** Stores a value; null removes it. */
export function storeValue(name: Area, key: string, value: unknown) {
  try {
    if (value === null) storageOf(name).removeItem(`bahay.${key}`);
    else storageOf(name).setItem(`bahay.${key}`, JSON.stringify(value));
  } catch {
    // The value is lost with the page.
  }
}
