// The screens beside the table and the first page, each in a file that is loaded when it is opened.
import { later } from './later.tsx';

export const Boards = later('boards', () => import('./boards.tsx').then((one) => one.Boards));
export const Brought = later('invite', () => import('./brought.tsx').then((one) => one.Brought));
export const Friends = later('friends', () => import('./friends.tsx').then((one) => one.Friends));
export const History = later('history', () => import('./history.tsx').then((one) => one.History));
export const Invitation = later('invite', () => import('./invitation.tsx').then((one) => one.Invitation));
export const Practice = later('practice', () => import('./practice.tsx').then((one) => one.Practice));
export const RewardsSheet = later('rewards', () => import('./rewards.tsx').then((one) => one.RewardsSheet));
export const Rooms = later('rooms', () => import('./rooms.tsx').then((one) => one.Rooms));
export const SettingsSheet = later('settings', () => import('./settings.tsx').then((one) => one.SettingsSheet));
