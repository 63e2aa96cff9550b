/** What tasks ask of the worker that runs them, and what workers offer. */

/** By name; whole numbers: thousandths of a processor, bytes of memory and disk, pieces of anything else. */
export type Amounts = Readonly<Record<string, number>>;
export type Labels = Readonly<Record<string, string>>;

/** The label of workers that may be taken away at short notice. */
export const SPOT_LABEL = 'spot';

/** What a worker must have. Tasks that ask for the same wait together. */
export interface Request {
  readonly resources: Amounts;
  readonly labels: Labels;
  /** All slots of the worker, and nothing beside it. */
  readonly exclusive: boolean;
  /** Not on a worker that may be taken away. */
  readonly noSpot: boolean;
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
}

/** What a worker is and has in all. */
export interface WorkerTraits {
  readonly slots: number;
  readonly resources: Amounts;
  readonly labels: Labels;
}

/** What a claim takes of its worker beside one slot. */
export interface Booking {
  /** One, or all that the worker has. */
  readonly slots: number;
  readonly resources: Amounts;
  readonly exclusive: boolean;
}

/** Null: any worker of the queue will do. */
export function requestOf(placement: PlacementSpec | undefined): Request | null {
  if (placement === undefined) return null;
  const { resources = NOTHING, labels = NO_LABELS, exclusive = false, spot } = placement;
  return { resources, labels, exclusive, noSpot: spot === 'never' };
}

export const NOTHING: Amounts = {};
const NO_LABELS: Labels = {};
/** Of a worker whose gateway, or which itself, is of an older version. */
export const NO_TRAITS: WorkerTraits = { slots: 0, resources: NOTHING, labels: NO_LABELS };

/** The same for requests that ask for the same. */
export function requestKey({ resources, labels, exclusive, noSpot }: Request): string {
  const sorted = (of: object) => Object.entries(of).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([sorted(resources), sorted(labels), exclusive, noSpot]);
}

/** It asks for a share of a worker that others may have taken, and not only for a worker of some kind. */
export function needsRoom({ resources, exclusive }: Request): boolean {
  return exclusive || !isEmpty(resources);
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
