/** The work that an assignment describes, with the secrets that the task names. */
import { sourcesIn, type WorkShape } from '@signalbox/protocol';
import { PermanentError } from '@signalbox/sdk';
import type { Secrets } from './secrets.ts';

export const WORK_KINDS = ['handler', 'function', 'process', 'http'] as const;
export type WorkKind = (typeof WORK_KINDS)[number];

export interface Work {
  readonly shape: WorkShape;
  /** The secrets that the task names, and those in its texts. */
  readonly secrets: ReadonlyMap<string, string>;
}

export const NO_SECRETS: ReadonlyMap<string, string> = new Map();

/** The same text comes with each attempt of a task. */
const shapes = new Map<string, WorkShape>();
const MOST_SHAPES = 1_000;
const MOST_SHAPE_CHARS = 4_096;

function readShape(text: string): WorkShape {
  const known = shapes.get(text);
  if (known !== undefined) return known;
  const shape = JSON.parse(text) as WorkShape;
  if (text.length <= MOST_SHAPE_CHARS) {
    if (shapes.size >= MOST_SHAPES) shapes.clear();
    shapes.set(text, shape);
  }
  return shape;
}

/** A function that runs in a child process: it waits there for its turn. On a worker of several tenants all do. */
export function isPooled(text: string, isShared: boolean): boolean {
  const shape = text === '' ? null : readShape(text);
  return shape?.kind === 'function' && (isShared || shape.inProcess !== true);
}

/** Throws a `PermanentError`: a server of a later version may ask for what this worker does not know. */
export function readWork(text: string, secrets: Secrets, tenant: string): Work {
  const shape = readShape(text);
  if (!WORK_KINDS.includes(shape.kind)) {
    throw new PermanentError(`This worker does not support tasks of kind "${String(shape.kind)}". Upgrade it.`);
  }
  const names = [...(shape.secrets ?? []), ...namesInTexts(shape)];
  if (names.length === 0) return { shape, secrets: NO_SECRETS };
  return { shape, secrets: secrets.of(names, tenant) };
}

function namesInTexts({ fill = {} }: WorkShape): string[] {
  return Object.values(fill).flatMap((template) =>
    [...sourcesIn(template)].flatMap((source) => (source.from === 'secret' ? [source.name] : [])),
  );
}
