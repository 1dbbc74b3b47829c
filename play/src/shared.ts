// What the page, every game and every screen have in common. The build adds it to each of them, so that it
// is one file, asked for once, and not a file for each two that share something.
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
