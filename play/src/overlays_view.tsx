// Draws the sheets that cover any page: rules, profiles, notices, an analysis, a replay, and the offers of
// sound and of a rematch. All except the strips are loaded when they are shown.
import { useLoaded } from './use_loaded.ts';
import type { TableState } from './model.ts';
import { analysedGame, areNoticesShown, areTournamentRulesShown, shownProfile, shownTournament, replayedGame, shownRules } from './overlays.ts';
import { lazyScreen } from './screens/lazy_screen.tsx';
import { Strips } from './strips.tsx';

const Rules = lazyScreen('rules', () => import('./rules.tsx').then((part) => part.RulesSheet));
const TournamentRules = lazyScreen('rules', () => import('./tournaments/rules.tsx').then((part) => part.TournamentRules));
const Tournament = lazyScreen('tournament', () => import('./tournaments/tournament.tsx').then((part) => part.TournamentSheet));
const Profile = lazyScreen('profile', () => import('./screens/profile.tsx').then((part) => part.Profile));
const Notices = lazyScreen('notices', () => import('./screens/notices.tsx').then((part) => part.Notices));
const Analysis = lazyScreen('analysis', () => import('./screens/analysis.tsx').then((part) => part.Analysis));
const Replay = lazyScreen('watch_again', () => import('./screens/history.tsx').then((part) => part.Replay));

export function Overlays() {
  const rules = shownRules.value;
  const profile = shownProfile.value;
  const judged = analysedGame.value;
  const again = replayedGame.value;
  const tournament = shownTournament.value;
  return (
    <>
      <Strips />
      {rules ? <Rules key={rules.kind} {...rules} onClose={() => { shownRules.value = null; }} /> : null}
      {areNoticesShown.value ? <Notices onClose={() => { areNoticesShown.value = false; }} /> : null}
      {tournament ? <Tournament key={tournament.id} id={tournament.id} onClose={() => { shownTournament.value = null; }} /> : null}
      {areTournamentRulesShown.value ? <TournamentRules onClose={() => { areTournamentRulesShown.value = false; }} /> : null}
      {profile ? <Profile key={profile.id} {...profile} onClose={() => { shownProfile.value = null; }} /> : null}
      {judged ? <Analysis key={judged.id} {...judged} onClose={() => { analysedGame.value = null; }} /> : null}
      {again ? <Replay key={again.id} game={again} from={again.from} onClose={() => { replayedGame.value = null; }} /> : null}
    </>
  );
}

/** The player's standing in the tournament of the table, for the bar. */
export function TournamentPill({ id, seats }: { id: string; seats: number }) {
  const part = useLoaded(`tournament ${id}`, () => import('./tournaments/beside.tsx'));
  return part ? <part.Pill id={id} seats={seats} /> : <span class="pill"> </span>;
}

/** The standings of the tournament beside its table. */
export function TournamentPanel() {
  const part = useLoaded('tournament', () => import('./tournaments/beside.tsx'));
  return part ? <part.Panel /> : null;
}

/** The guide through a first game, beside the table. */
export function Guide({ state }: { state: TableState }) {
  const part = useLoaded('guide', () => import('./guide.tsx'));
  return part ? <part.Guide state={state} /> : null;
}
