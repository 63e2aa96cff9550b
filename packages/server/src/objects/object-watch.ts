/**
 * Watches a prefix of an object store. An object that is new, or was written again, becomes an event. Of the servers of a cluster, one
 * at a time looks; what was sent is stored after that, so a server that dies in between sends again, and the id of the event makes that
 * once.
 */
import { createHash, randomUUID } from 'node:crypto';
import { type CloudEvent, OBJECT_EVENT } from '@signalbox/protocol';
import type { Queries, WatchedObject } from '@signalbox/store';
import { toIso } from '../iso-instants.ts';

export interface WatchedPrefix {
  /** In sources of events: `/signalbox/objects/<name>`. */
  readonly name: string;
  readonly bucket: string;
  /** Empty for the whole bucket. */
  readonly prefix: string;
}

export interface WatchedObjects {
  readonly prefixes: readonly WatchedPrefix[];
  /** Of a store that speaks the protocol of S3; null for AWS. */
  readonly endpoint: string | null;
}

export interface ListedObject extends WatchedObject {
  readonly size: number;
}

export interface ObjectPage {
  /** In the order of the bytes of their keys. */
  readonly objects: readonly ListedObject[];
  /** Where the next page begins; null for the last one. */
  readonly next: string | null;
}

export interface ObjectStore {
  list(watched: WatchedPrefix, from: string | null): Promise<ObjectPage>;
  close(): void;
}

export interface ObjectWatchParts {
  readonly watched: WatchedPrefix;
  readonly store: () => Promise<ObjectStore>;
  readonly queries: Pick<
    Queries,
    'claimObjectWatch' | 'renewObjectWatch' | 'findWatchedObjects' | 'keepWatchedObjects' | 'dropGoneObjects'
  >;
  readonly send: (event: CloudEvent) => Promise<unknown>;
  readonly complain: (what: string, details: object) => void;
  readonly lookMs?: number;
  readonly mostObjects?: number;
}

const LOOK_MS = 10_000;
/** Longer than the store and the triggers of one page take. A server that was paused for longer finds another one in its place. */
const BUSY_MS = 60_000;
const MOST_OBJECTS = 100_000;
/** After so many events the claim is renewed. */
const SENT_PER_RENEWAL = 50;

export class ObjectWatch {
  readonly #parts: ObjectWatchParts;
  readonly #claim: { readonly prefix: string; readonly holder: string };
  #store: ObjectStore | null = null;
  #timer: NodeJS.Timeout | null = null;
  #round: Promise<void> = Promise.resolve();
  #isStopped = false;
  #complaint = '';

  constructor(parts: ObjectWatchParts) {
    this.#parts = parts;
    this.#claim = { prefix: placeOf(parts.watched), holder: randomUUID() };
  }

  start(): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#round = this.runOnce().then(
        () => undefined,
        (error: unknown) => {
          if (!this.#isStopped) this.#complainOnce(String(error));
        },
      );
      void this.#round.then(() => this.start());
    }, this.#parts.lookMs ?? LOOK_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    // A look that waits for the store ends with it.
    this.#store?.close();
    await this.#round;
  }

  /** False when another server looks. */
  async runOnce(): Promise<boolean> {
    const { queries, lookMs = LOOK_MS } = this.#parts;
    const claimed = await queries.claimObjectWatch(this.#claim, BUSY_MS);
    if (claimed === null) return false;
    let isWhole = false;
    try {
      isWhole = await this.#look(claimed.isLooked);
    } finally {
      // The next look is soon, also after a failure.
      await queries.renewObjectWatch(this.#claim, { forMs: lookMs, isLooked: isWhole }).catch(() => false);
    }
    return true;
  }

  /** Page by page. Answers whether it came to the end. */
  async #look(isLooked: boolean): Promise<boolean> {
    const { watched, queries, mostObjects = MOST_OBJECTS } = this.#parts;
    this.#store ??= await this.#parts.store();
    let [from, after, count]: [string | null, string, number] = [null, '', 0];
    for (;;) {
      const { objects, next } = await this.#store.list(watched, from);
      if (!(await this.#takePage(objects, isLooked))) return false;
      const keys = objects.map(({ key }) => key);
      await queries.dropGoneObjects(this.#claim.prefix, {
        after,
        until: next === null ? null : (keys.at(-1) ?? after),
        keys,
      });
      if (next === null) {
        this.#complaint = '';
        return true;
      }
      [from, after, count] = [next, keys.at(-1) ?? after, count + objects.length];
      if (count >= mostObjects) {
        this.#complainOnce(
          `It has more than ${mostObjects} objects: the others are not looked at. Remove what is done, or watch a longer prefix.`,
        );
        return true;
      }
    }
  }

  /** False when it has to stop: another server looks, or this one ends. */
  async #takePage(objects: readonly ListedObject[], isLooked: boolean): Promise<boolean> {
    const { watched, queries, send } = this.#parts;
    const { prefix } = this.#claim;
    const known = await queries.findWatchedObjects(
      prefix,
      objects.map(({ key }) => key),
    );
    const fresh = objects.filter((object) => !isSame(known.get(object.key), object));
    // What lay there when it was looked at for the first time is not new.
    if (!isLooked) await queries.keepWatchedObjects(prefix, fresh);
    else {
      for (const [no, object] of fresh.entries()) {
        if (no % SENT_PER_RENEWAL === 0 && !(await this.#mayGoOn())) return false;
        await send(objectEvent(watched, object));
        await queries.keepWatchedObjects(prefix, [object]);
      }
    }
    return this.#mayGoOn();
  }

  async #mayGoOn(): Promise<boolean> {
    return !this.#isStopped && (await this.#parts.queries.renewObjectWatch(this.#claim, { forMs: BUSY_MS }));
  }

  /** The same thing again and again is told once. */
  #complainOnce(what: string): void {
    if (what === this.#complaint) return;
    this.#complaint = what;
    const { watched, complain } = this.#parts;
    complain('A watched prefix can not be looked at as a whole.', {
      name: watched.name,
      prefix: urlOf(watched, ''),
      what,
    });
  }
}

function isSame(a: WatchedObject | undefined, b: WatchedObject): boolean {
  return a !== undefined && a.modifiedAt === b.modifiedAt && a.etag === b.etag;
}

/** Another prefix under the same name is looked at anew. */
function placeOf(watched: WatchedPrefix): string {
  return `${watched.name}=${urlOf(watched, watched.prefix)}`;
}

function urlOf({ bucket, prefix }: WatchedPrefix, key: string): string {
  return `s3://${bucket}/${key === '' ? prefix : key}`;
}

export function objectEvent(watched: WatchedPrefix, { key, modifiedAt, etag, size }: ListedObject): CloudEvent {
  const { name, bucket } = watched;
  return {
    specversion: '1.0',
    // Keys may be longer than ids.
    id: createHash('sha256').update(`${bucket}/${key}\n${modifiedAt}\n${etag}`).digest('hex'),
    source: `/signalbox/objects/${name}`,
    type: OBJECT_EVENT,
    subject: key,
    time: toIso(modifiedAt),
    data: { watch: name, bucket, key, url: urlOf(watched, key), size, etag, modifiedAt: toIso(modifiedAt) },
  };
}
