/** What tasks ask of the worker that runs them, and what workers offer. */

/** By name; whole numbers: thousandths of a processor, bytes of memory and disk, pieces of anything else. */
export type Amounts = Readonly<Record<string, number>>;
export type Labels = Readonly<Record<string, string>>;

/** The label of workers that may be taken away at short notice. */
export const SPOT_LABEL = 'spot';

/** So many attempts begin together or not at all, each on a worker of its own unless they may share. */
export interface GangSpec {
  readonly size: number;
  readonly share?: true;
}

export const MAX_GANG_SIZE = 256;

/** What a worker must have. Tasks that ask for the same wait together. */
export interface Request {
  readonly resources: Amounts;
  readonly labels: Labels;
  /** All slots of the worker, and nothing beside it. */
  readonly exclusive: boolean;
  /** Not on a worker that may be taken away. */
  readonly noSpot: boolean;
  /** It is for each member of a gang, and all of them begin in one step. */
  readonly gang?: GangSpec;
}

/** What a task asks for. */
export interface PlacementSpec {
  readonly resources?: Amounts;
  readonly labels?: Labels;
  readonly exclusive?: true;
  readonly spot?: 'never';
  /** Labels that are better to have. */
  readonly prefer?: Labels;
  /** Better on the worker that ran one of these tasks of the same run. */
  readonly near?: readonly number[];
  /** Better where fewer tasks of the same run, or dag, are running: per worker, or per value of a label. */
  readonly spread?: { readonly of: 'run' | 'dag'; readonly over?: string };
  /** Its instances are the members: its map runs over a list of this length. */
  readonly gang?: GangSpec;
}

/** What a worker is and has in all. */
export interface WorkerTraits {
  readonly slots: number;
  readonly resources: Amounts;
  readonly labels: Labels;
  /** Where other workers reach it; absent where that is not known. */
  readonly host?: string;
}

/** What a claim takes of its worker beside one slot. */
export interface Booking {
  /** One, or all that the worker has. */
  readonly slots: number;
  readonly resources: Amounts;
  readonly exclusive: boolean;
  readonly gang?: GangPlace;
}

/** Which member of a gang a claim is for, and the hosts of all of them, by rank. */
export interface GangPlace {
  readonly rank: number;
  /** Empty where it is not known. */
  readonly hosts: readonly string[];
}

/** Null: any worker of the queue will do. */
export function requestOf(placement: PlacementSpec | undefined): Request | null {
  if (placement === undefined) return null;
  const { resources = NOTHING, labels = NO_LABELS, exclusive = false, spot, gang } = placement;
  const request = { resources, labels, exclusive, noSpot: spot === 'never' };
  return gang === undefined ? request : { ...request, gang };
}

export const NOTHING: Amounts = {};
const NO_LABELS: Labels = {};
/** Of a worker whose gateway, or which itself, is of an older version. */
export const NO_TRAITS: WorkerTraits = { slots: 0, resources: NOTHING, labels: NO_LABELS };

/** The same for requests that ask for the same. */
export function requestKey({ resources, labels, exclusive, noSpot, gang }: Request): string {
  const sorted = (of: object) => Object.entries(of).sort(([a], [b]) => (a < b ? -1 : 1));
  const together = gang === undefined ? [] : [gang.size, gang.share === true];
  return JSON.stringify([sorted(resources), sorted(labels), exclusive, noSpot, ...together]);
}

/** It asks for a share of a worker that others may have taken, or for several at once, and not only for a worker of some kind. */
export function needsRoom({ resources, exclusive, gang }: Request): boolean {
  return exclusive || gang !== undefined || !isEmpty(resources);
}

/** What keeps a worker from ever running such a task. */
export type Misfit =
  | { readonly kind: 'label'; readonly name: string; readonly value: string }
  | { readonly kind: 'resource'; readonly name: string; readonly amount: number; readonly most: number }
  | { readonly kind: 'spot' };

export function misfitOf({ resources, labels, noSpot }: Request, traits: WorkerTraits): Misfit | null {
  for (const name in labels) {
    const value = labels[name]!;
    if (traits.labels[name] !== value) return { kind: 'label', name, value };
  }
  if (noSpot && isSpot(traits)) return { kind: 'spot' };
  for (const name in resources) {
    const most = traits.resources[name] ?? 0;
    if (resources[name]! > most) return { kind: 'resource', name, amount: resources[name]!, most };
  }
  return null;
}

export function isSpot({ labels }: WorkerTraits): boolean {
  return labels[SPOT_LABEL] !== undefined && labels[SPOT_LABEL] !== 'false';
}

export function isEmpty(of: object): boolean {
  for (const _ in of) return false;
  return true;
}

/** As much as this is there. */
export function hasAmounts(there: Amounts, wanted: Amounts): boolean {
  for (const name in wanted) if ((there[name] ?? 0) < wanted[name]!) return false;
  return true;
}

/** Amounts that change: of a loan, or of a worker. Names without an amount are left out. */
export type Room = Record<string, number>;

export function addAmounts(room: Room, more: Amounts): void {
  for (const name in more) {
    const sum = (room[name] ?? 0) + more[name]!;
    if (sum === 0) delete room[name];
    else room[name] = sum;
  }
}

export function subtractAmounts(room: Room, less: Amounts): void {
  for (const name in less) {
    const rest = (room[name] ?? 0) - less[name]!;
    if (rest === 0) delete room[name];
    else room[name] = rest;
  }
}

/** What is in both. */
export function commonAmounts(a: Amounts, b: Amounts): Amounts {
  const common: Room = {};
  for (const name in a) {
    const least = Math.min(a[name]!, b[name] ?? 0);
    if (least > 0) common[name] = least;
  }
  return common;
}
