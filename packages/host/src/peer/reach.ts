/**
 * Which other nodes this node reaches. It pings each of them once a second over its own link. A node that does not answer
 * for a while is *cut off*, and stays so until it has answered without a break for a while. Both periods keep shards from
 * moving with every hiccup of the network; a node whose link comes and goes is trusted later each time.
 */
import type { NodeId } from '@signalbox/engine';
import type { Clock } from '../ports.ts';
import type { Peers } from './peers.ts';

interface ReachPorts {
  readonly self: NodeId;
  readonly clock: Clock;
  readonly peers: () => Pick<Peers, 'ask'>;
  /** The living nodes, including this one. */
  readonly nodes: () => readonly NodeId[];
  /** Workers that take work have their stream here. */
  readonly hasWorkers: () => boolean;
}

interface Other {
  /** When it answered last, or was first seen: a new node gets its time too. */
  answeredAt: number;
  isAsked: boolean;
  isCut: boolean;
  /** Since when it has answered without a break. */
  steadySince: number;
  cutCount: number;
}

const ASK_MS = 1_000;
/** The same time after which a node without a heartbeat counts as dead. */
const CUT_MS = 3_000;
const STEADY_MS = 5_000;
const STEADY_MAX_MS = 60_000;
/** A worker whose stream breaks is back within this, as a rule. */
const WORKERS_KEPT_MS = 5_000;

export class Reach {
  private readonly ports: ReachPorts;
  private readonly others = new Map<NodeId, Other>();
  private workersAt = Number.NEGATIVE_INFINITY;
  private cancel: (() => void) | null = null;

  constructor(ports: ReachPorts) {
    this.ports = ports;
  }

  start(): void {
    this.cancel = this.ports.clock.after(ASK_MS, () => {
      this.runOnce();
      this.start();
    });
  }

  stop(): void {
    this.cancel?.();
  }

  runOnce(): void {
    const { self, clock, nodes } = this.ports;
    const mono = clock.mono();
    const present = new Set(nodes());
    for (const nodeId of this.others.keys()) if (!present.has(nodeId)) this.others.delete(nodeId);
    for (const nodeId of present) {
      if (nodeId === self) continue;
      const other = this.otherOf(nodeId, mono);
      this.judge(other, mono);
      if (!other.isAsked) this.ask(nodeId, other);
    }
  }

  /** What other nodes should know; the same until something changes. */
  seen(): { readonly cutFrom: readonly NodeId[]; readonly hasWorkers: boolean } {
    const { clock, hasWorkers } = this.ports;
    const mono = clock.mono();
    if (hasWorkers()) this.workersAt = mono;
    const cutFrom = [...this.others].filter(([, { isCut }]) => isCut).map(([nodeId]) => nodeId);
    return { cutFrom: cutFrom.sort(), hasWorkers: mono - this.workersAt < WORKERS_KEPT_MS };
  }

  private otherOf(nodeId: NodeId, mono: number): Other {
    const known = this.others.get(nodeId);
    if (known !== undefined) return known;
    const other = { answeredAt: mono, isAsked: false, isCut: false, steadySince: mono, cutCount: 0 };
    this.others.set(nodeId, other);
    return other;
  }

  private judge(other: Other, mono: number): void {
    if (mono - other.answeredAt >= CUT_MS) {
      if (!other.isCut) other.cutCount += 1;
      other.isCut = true;
      other.steadySince = Number.POSITIVE_INFINITY;
    } else if (other.isCut && other.answeredAt - other.steadySince >= steadyMs(other)) other.isCut = false;
  }

  private ask(nodeId: NodeId, other: Other): void {
    other.isAsked = true;
    this.ports.peers().ask(nodeId, { what: 'reach' }, (answer) => {
      other.isAsked = false;
      if (answer === null) return;
      other.answeredAt = this.ports.clock.mono();
      other.steadySince = Math.min(other.steadySince, other.answeredAt);
    });
  }
}

function steadyMs({ cutCount }: Other): number {
  return Math.min(STEADY_MAX_MS, STEADY_MS * 2 ** Math.min(cutCount - 1, 10));
}
