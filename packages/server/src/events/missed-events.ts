/**
 * Sends events that were expected and did not come to the triggers that take them: at least once, and their id makes that once. Each
 * server looks; what two of them send is one event.
 */
import { type CloudEvent, MISSING_EVENT } from '@signalbox/protocol';
import type { MissedEventRow, Queries } from '@signalbox/store';
import { toIso } from '../iso-instants.ts';

export interface MissedEventsParts {
  readonly queries: Pick<Queries, 'listMissedEvents' | 'deleteMissedEvent'>;
  readonly send: (row: MissedEventRow, event: CloudEvent) => Promise<unknown>;
  readonly complain: (error: unknown) => void;
}

const LOOK_MS = 1_000;
const AT_ONCE = 20;

export class MissedEvents {
  readonly #parts: MissedEventsParts;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;
  #round: Promise<void> = Promise.resolve();

  constructor(parts: MissedEventsParts) {
    this.#parts = parts;
  }

  start(): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#round = this.runOnce().catch(this.#parts.complain);
      void this.#round.then(() => this.start());
    }, LOOK_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#round;
  }

  async runOnce(): Promise<void> {
    const { queries, send } = this.#parts;
    for (const row of await queries.listMissedEvents(AT_ONCE)) {
      await send(row, missingEvent(row));
      await queries.deleteMissedEvent(row.key);
    }
  }
}

export function missingEvent({ key, dag, spec, sinceAt, at }: MissedEventRow): CloudEvent {
  const { name: expect, type, source } = spec;
  return {
    specversion: '1.0',
    id: `${key.dagId}/${key.name}/${key.dueAt}`,
    source: `/signalbox/dags/${dag}`,
    type: MISSING_EVENT,
    subject: expect,
    time: toIso(at),
    data: {
      dag,
      expect,
      type,
      ...(source === undefined ? {} : { source }),
      since: toIso(sinceAt),
      by: toIso(key.dueAt),
    },
  };
}
