// The modules common to the page, every game and every screen. The build injects this one into each of them,
// so that the common code is one file instead of one for each pair.
import './advice.tsx';
import './cards.tsx';
import './house.ts';
import './use_loaded.ts';
import './motion.ts';
import './overlays.ts';
import './parts/acts.tsx';
import './parts/index.tsx';
import './refusals.ts';
import './rematch.ts';
import './result.tsx';
import './screens/bots.tsx';
import './screens/name.tsx';
import './settings.ts';
import './sound.ts';
import './table_entry.ts';
import './words.ts';
