// Draws the sheets that cover any page: rules, profiles, notices, an analysis, a replay, and the offers of
// sound and of a rematch. All except the strips are loaded when they are shown.
import { useLoaded } from './loaded.ts';
import type { TableState } from './model.ts';
import { gameJudged, noticesShown, profileShown, replayed, rulesRead } from './over.ts';
import { later } from './screens/later.tsx';
import { Strips } from './strips.tsx';

const Rules = later('rules', () => import('./rules.tsx').then((part) => part.RulesSheet));
const Profile = later('profile', () => import('./screens/profile.tsx').then((part) => part.Profile));
const Notices = later('notices', () => import('./screens/notices.tsx').then((part) => part.Notices));
const Analysis = later('analysis', () => import('./screens/analysis.tsx').then((part) => part.Analysis));
const Replay = later('watch_again', () => import('./screens/history.tsx').then((part) => part.Replay));

export function Over() {
  const rules = rulesRead.value;
  const profile = profileShown.value;
  const judged = gameJudged.value;
  const again = replayed.value;
  return (
    <>
      <Strips />
      {rules ? <Rules key={rules.kind} {...rules} onClose={() => { rulesRead.value = null; }} /> : null}
      {noticesShown.value ? <Notices onClose={() => { noticesShown.value = false; }} /> : null}
      {profile ? <Profile key={profile.id} {...profile} onClose={() => { profileShown.value = null; }} /> : null}
      {judged ? <Analysis key={judged.id} {...judged} onClose={() => { gameJudged.value = null; }} /> : null}
      {again ? <Replay key={again.id} game={again} from={again.from} onClose={() => { replayed.value = null; }} /> : null}
    </>
  );
}

/** The guide through a first game, beside the table. */
export function Guide({ state }: { state: TableState }) {
  const part = useLoaded('guide', () => import('./guide.tsx'));
  return part ? <part.Guide state={state} /> : null;
}
