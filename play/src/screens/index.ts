// The screens beside the table and the first page, each in a file that is loaded when it is opened.
import { lazyScreen } from './lazy_screen.tsx';

export const Boards = lazyScreen('boards', () => import('./boards.tsx').then((one) => one.Boards));
export const Brought = lazyScreen('invite', () => import('./incoming_invitation.tsx').then((one) => one.IncomingInvitation));
export const Friends = lazyScreen('friends', () => import('./friends.tsx').then((one) => one.Friends));
export const History = lazyScreen('history', () => import('./history.tsx').then((one) => one.History));
export const Invitation = lazyScreen('invite', () => import('./invitation.tsx').then((one) => one.Invitation));
export const Practice = lazyScreen('practice', () => import('./practice.tsx').then((one) => one.Practice));
export const RewardsSheet = lazyScreen('rewards', () => import('./rewards.tsx').then((one) => one.RewardsSheet));
export const Rooms = lazyScreen('rooms', () => import('./rooms.tsx').then((one) => one.Rooms));
export const Tournaments = lazyScreen('tournaments', () => import('../tournaments/lobby.tsx').then((one) => one.Lobby));
export const SettingsSheet = lazyScreen('settings', () => import('./settings.tsx').then((one) => one.SettingsSheet));
