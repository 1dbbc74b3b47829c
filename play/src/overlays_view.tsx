// Draws the sheets that cover any page: rules, profiles, notices, an analysis, a replay, and the offers of
// sound and of a rematch. All except the strips are loaded when they are shown.
import { useLoaded } from './use_loaded.ts';
import type { TableState } from './model.ts';
import { analysedGame, areNoticesShown, shownProfile, replayedGame, shownRules } from './overlays.ts';
import { lazyScreen } from './screens/lazy_screen.tsx';
import { Strips } from './strips.tsx';

const Rules = lazyScreen('rules', () => import('./rules.tsx').then((part) => part.RulesSheet));
const Profile = lazyScreen('profile', () => import('./screens/profile.tsx').then((part) => part.Profile));
const Notices = lazyScreen('notices', () => import('./screens/notices.tsx').then((part) => part.Notices));
const Analysis = lazyScreen('analysis', () => import('./screens/analysis.tsx').then((part) => part.Analysis));
const Replay = lazyScreen('watch_again', () => import('./screens/history.tsx').then((part) => part.Replay));

export function Overlays() {
  const rules = shownRules.value;
  const profile = shownProfile.value;
  const judged = analysedGame.value;
  const again = replayedGame.value;
  return (
    <>
      <Strips />
      {rules ? <Rules key={rules.kind} {...rules} onClose={() => { shownRules.value = null; }} /> : null}
      {areNoticesShown.value ? <Notices onClose={() => { areNoticesShown.value = false; }} /> : null}
      {profile ? <Profile key={profile.id} {...profile} onClose={() => { shownProfile.value = null; }} /> : null}
      {judged ? <Analysis key={judged.id} {...judged} onClose={() => { analysedGame.value = null; }} /> : null}
      {again ? <Replay key={again.id} game={again} from={again.from} onClose={() => { replayedGame.value = null; }} /> : null}
    </>
  );
}

/** The guide through a first game, beside the table. */
export function Guide({ state }: { state: TableState }) {
  const part = useLoaded('guide', () => import('./guide.tsx'));
  return part ? <part.Guide state={state} /> : null;
}
