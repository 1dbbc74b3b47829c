// Loads the style of tournaments before the first of their screens is drawn. Without it they are plain.
import { addStyle } from '../games/loading.ts';

const address = document.querySelector<HTMLMetaElement>('meta[name="tournaments"]')?.dataset['style'];
if (address) await addStyle(address).catch(() => undefined);
