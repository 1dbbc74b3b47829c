// The modules common to the page, every game and every screen. The build injects this one into each of them,
// so that the common code is one file instead of one for each pair.
import './advice.tsx';
import './cards.tsx';
import './house.ts';
import './loaded.ts';
import './motion.ts';
import './over.ts';
import './parts/acts.tsx';
import './parts/index.tsx';
import './refusals.ts';
import './settings.ts';
import './sound.ts';
import './ways.ts';
import './words.ts';
