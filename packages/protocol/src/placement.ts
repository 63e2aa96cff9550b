/** What workers offer and tasks ask for, as text: on the wire, in flags and in definitions. */

/** By name: thousandths of a processor, bytes of memory and disk, pieces of anything else. */
export type Amounts = Readonly<Record<string, number>>;
export type Labels = Readonly<Record<string, string>>;

/** What a worker says that it is and has. */
export interface WorkerOffers {
  readonly resources: Amounts;
  readonly labels: Labels;
}

/** What an attempt takes of its worker beside a slot. */
export interface HeldBooking {
  readonly resources: Amounts;
  readonly exclusive: boolean;
  readonly gang?: GangPlace;
}

/** Which member of a gang it is, and the hosts of all members, by rank; a host that is not known is empty. */
export interface GangPlace {
  readonly rank: number;
  readonly hosts: readonly string[];
}

export const MAX_RESOURCES = 32;
export const MAX_LABELS = 64;
export const MAX_LABEL_CHARS = 200;
/** Amounts are added up, and stay exact below this. */
export const MAX_AMOUNT = 2 ** 50;

const NAME = /^[A-Za-z0-9][A-Za-z0-9_./-]{0,62}$/;

/** Of a label or a resource. */
export function isPlacementName(name: string): boolean {
  return NAME.test(name) && name !== '__proto__';
}

/** Null: it is no such thing. */
export function readOffers(text: string): WorkerOffers | null {
  const value = readObject(text);
  if (value === null) return null;
  const resources = readAmounts(value.resources);
  const labels = readLabels(value.labels);
  return resources === null || labels === null ? null : { resources, labels };
}

/** Null: it is no such thing. */
export function readBooking(text: string): HeldBooking | null {
  const value = readObject(text);
  const resources = value === null ? null : readAmounts(value.resources);
  if (resources === null) return null;
  const gang = readGang(value?.gang);
  return { resources, exclusive: value?.exclusive === true, ...(gang === null ? {} : { gang }) };
}

function readGang(value: unknown): GangPlace | null {
  if (!isObject(value)) return null;
  const { rank, hosts } = value;
  if (!Number.isInteger(rank) || !Array.isArray(hosts)) return null;
  return hosts.every((host) => typeof host === 'string') ? { rank: rank as number, hosts } : null;
}

/** Empty for an attempt that takes nothing but a slot. */
export function bookingText(booking: HeldBooking | undefined): string {
  if (booking === undefined) return '';
  const { resources, exclusive, gang } = booking;
  return JSON.stringify({ resources, ...(exclusive ? { exclusive } : {}), ...(gang === undefined ? {} : { gang }) });
}

function readObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readAmounts(value: unknown): Amounts | null {
  if (!isObject(value)) return null;
  const entries = Object.entries(value);
  const isRight = ([name, amount]: [string, unknown]) =>
    isPlacementName(name) && Number.isInteger(amount) && (amount as number) >= 0 && (amount as number) <= MAX_AMOUNT;
  return entries.length <= MAX_RESOURCES && entries.every(isRight) ? (value as Amounts) : null;
}

function readLabels(value: unknown): Labels | null {
  if (!isObject(value)) return null;
  const entries = Object.entries(value);
  const isRight = ([name, label]: [string, unknown]) =>
    isPlacementName(name) && typeof label === 'string' && label.length <= MAX_LABEL_CHARS;
  return entries.length <= MAX_LABELS && entries.every(isRight) ? (value as Labels) : null;
}

const UNIT_BYTES = {
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
} as const;

/** Bytes of a text such as `512MiB`; null for any other. */
export function bytesOf(text: string): number | null {
  const match = /^(\d{1,12}(?:\.\d{1,3})?)(KiB|MiB|GiB|TiB|kB|MB|GB|TB)$/.exec(text);
  return match === null ? null : Math.round(Number(match[1]) * UNIT_BYTES[match[2] as keyof typeof UNIT_BYTES]);
}

/** How an amount of this resource is written, for error messages. */
export function amountForm(name: string): string {
  if (name === 'cpu') return 'a number of processors such as 0.5 or 4';
  return name === 'memory' || name === 'disk' ? 'bytes or a size such as "4GiB"' : 'a whole number';
}

/** As people write it: processors, sizes, pieces. Null for what is none. */
export function readAmount(name: string, value: number | string): number | null {
  const isSize = name === 'memory' || name === 'disk';
  const number = typeof value === 'number' ? value : isSize ? (bytesOf(value) ?? wholeOf(value)) : numberOf(value);
  if (number === null) return null;
  const amount = name === 'cpu' ? Math.round(number * 1_000) : number;
  return Number.isInteger(amount) && amount >= 0 && amount <= MAX_AMOUNT ? amount : null;
}

const numberOf = (text: string): number | null => (/^\d{1,15}(\.\d{1,3})?$/.test(text) ? Number(text) : null);
const wholeOf = (text: string): number | null => (/^\d{1,16}$/.test(text) ? Number(text) : null);

/** Spoken for people: `4 GiB of memory`, `2.5 cpu`, `1 gpu`. */
export function shownAmount(name: string, amount: number): string {
  if (name === 'cpu') return `${amount / 1_000} cpu`;
  if (name === 'memory' || name === 'disk') return `${shownBytes(amount)} of ${name}`;
  return `${amount} ${name}`;
}

export function shownBytes(bytes: number): string {
  const unit = (['GiB', 'MiB', 'KiB'] as const).find((_, i) => bytes >= 1024 ** (3 - i));
  if (unit === undefined) return `${bytes} bytes`;
  const value = bytes / 1024 ** (3 - ['GiB', 'MiB', 'KiB'].indexOf(unit));
  return `${Math.round(value * 100) / 100} ${unit}`;
}
