/** What the gateway tells of its workers for their history: that they came, went, fell silent, and that their clocks are wrong. */
import type { WorkerId } from '@signalbox/engine';
import type { Clock, FleetHistory } from '../ports.ts';
import type { Session } from './session.ts';

interface NotesPorts {
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly history: Pick<FleetHistory, 'worker'>;
}

/** A clock that is further from that of this node is wrong, and right again within half of it. Messages take their time, too. */
const WRONG_MS = 2_000;

export class WorkerNotes {
  private readonly ports: NotesPorts;
  /** Those whose streams have ended without a word. They may come back, here or elsewhere. */
  private readonly gone = new Map<WorkerId, Session>();

  constructor(ports: NotesPorts) {
    this.ports = ports;
  }

  connected(session: Session): void {
    this.gone.delete(session.workerId);
    const { queues, slots, traits, version = null, isDraining } = session;
    const offers = traits === null ? {} : { resources: traits.resources, labels: traits.labels };
    this.note(session, 'connected', { queues, slots, version, ...offers, ...(isDraining && { draining: true }) });
  }

  draining(session: Session): void {
    this.note(session, 'draining');
  }

  /** In order, with nothing left to do. */
  left(session: Session): void {
    this.note(session, 'left');
  }

  disconnected(session: Session, reason: string): void {
    this.gone.set(session.workerId, session);
    this.note(session, 'disconnected', { reason, running: session.held.size });
  }

  /** Its stream is open, and nothing comes of it. */
  silent(session: Session): void {
    this.lost(session);
  }

  /** It was heard elsewhere. */
  forget(workerId: WorkerId): void {
    this.gone.delete(workerId);
  }

  /** Those that were not heard for the whole lease: their attempts are given up. */
  sweep(): void {
    const before = this.ports.clock.mono() - this.ports.leaseMs;
    for (const [workerId, session] of this.gone) {
      if (session.heardAt > before) continue;
      this.gone.delete(workerId);
      this.lost(session);
    }
  }

  clock(session: Session, clockMs: number): void {
    const aheadMs = Math.round(clockMs - this.ports.clock.wall());
    const isWrong = Math.abs(aheadMs) > (session.isClockWrong ? WRONG_MS / 2 : WRONG_MS);
    if (isWrong === session.isClockWrong) return;
    session.isClockWrong = isWrong;
    this.note(session, isWrong ? 'clock_wrong' : 'clock_right', { aheadMs });
  }

  private lost(session: Session): void {
    const silentMs = Math.round(this.ports.clock.mono() - session.heardAt);
    this.note(session, 'lost', { silentMs, running: session.held.size });
  }

  private note({ workerId, tenantId, name }: Session, kind: Noted['kind'], details: object = {}): void {
    this.ports.history.worker({ kind, workerId, tenantId, name, details });
  }
}

type Noted = Parameters<FleetHistory['worker']>[0];
