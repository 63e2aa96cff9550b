/**
 * Links to all other nodes. Each node opens one link to each other node and sends its own requests and notices over it;
 * answers come back on the same link. When a link closes, the outcome of its open requests is unknown.
 */
import type { Command, NodeId } from '@signalbox/engine';
import type { NodeSeen } from '@signalbox/store';
import type { Clock, Log, PeerCaller, PeerHandlers, PeerLink, PeerNetwork } from '../ports.ts';
import type { ForwardResult, PeerAnswer, PeerMessage, PeerQuestion } from './message.ts';

interface PeerEvents {
  /** A request to decide on; answered through `reply`. The caller is asked `isVoid` before it is decided. */
  onForward(
    from: NodeId,
    epoch: number,
    command: Command,
    reply: (result: ForwardResult) => void,
    isVoid: () => boolean,
  ): void;
  /** Something that this node knows; answered at once. */
  onQuestion(question: PeerQuestion): PeerAnswer;
  onNotice(from: NodeId, message: PeerMessage): void;
  onLinked(nodeId: NodeId): void;
  /** It has opened a link to us: it may have lost us before, and what it knew of us with that. */
  onCalled(nodeId: NodeId): void;
  onUnlinked(nodeId: NodeId): void;
}

interface OutgoingLink {
  readonly nodeId: NodeId;
  readonly address: string;
  link: PeerLink | null;
  readonly waiting: Map<number, (result: ForwardResult) => void>;
  readonly asked: Map<number, (answer: PeerAnswer | null) => void>;
}

const REOPEN_MS = 100;
const REFUSED_MS = 5_000;
const CALLERS_KEPT = 1_000;

export class Peers {
  private readonly self: NodeId;
  private readonly network: PeerNetwork;
  private readonly clock: Clock;
  private readonly log: Log;
  private readonly events: PeerEvents;
  private readonly outgoing = new Map<NodeId, OutgoingLink>();
  /** The newest session of each node that has called, and the link it came by. */
  private readonly callers = new Map<NodeId, { readonly session: number; readonly link: PeerLink }>();
  private session = 0;
  private lastNo = 0;
  private isStopped = false;

  constructor(self: NodeId, ports: { network: PeerNetwork; clock: Clock; log: Log }, events: PeerEvents) {
    this.self = self;
    this.network = ports.network;
    this.clock = ports.clock;
    this.log = ports.log;
    this.events = events;
    this.network.listen((caller, link) => this.accept(caller, link));
  }

  /** The other nodes as they are now: links are opened to new ones, and closed to those that are gone. */
  update(nodes: readonly NodeSeen[]): void {
    const wanted = new Map(nodes.filter((node) => node.nodeId !== this.self).map((node) => [node.nodeId, node]));
    for (const [nodeId, out] of this.outgoing) {
      if (wanted.has(nodeId)) continue;
      this.outgoing.delete(nodeId);
      out.link?.close();
      this.failWaiting(out);
      // It may be alive all the same: by this it learns that it is not heard here any more, and calls anew.
      this.callers.get(nodeId)?.link.close();
    }
    this.forgetCallers(wanted);
    for (const { nodeId, peerAddress } of wanted.values()) {
      if (this.outgoing.has(nodeId)) continue;
      const out: OutgoingLink = { nodeId, address: peerAddress, link: null, waiting: new Map(), asked: new Map() };
      this.outgoing.set(nodeId, out);
      this.open(out);
    }
  }

  /** Nodes that are gone call no more; a session that is late may still be on its way, so the last ones are kept. */
  private forgetCallers(wanted: ReadonlyMap<NodeId, unknown>): void {
    for (const nodeId of this.callers.keys()) {
      if (this.callers.size <= CALLERS_KEPT) return;
      if (!wanted.has(nodeId)) this.callers.delete(nodeId);
    }
  }

  get count(): number {
    return this.outgoing.size;
  }

  tell(nodeId: NodeId, message: PeerMessage): boolean {
    const link = this.outgoing.get(nodeId)?.link;
    link?.send(message);
    return link != null;
  }

  tellAll(message: PeerMessage): void {
    for (const out of this.outgoing.values()) out.link?.send(message);
  }

  /** Asks the owner to decide. Without a link it is certain that nothing was done. */
  forward(nodeId: NodeId, epoch: number, command: Command, reply: (result: ForwardResult) => void): void {
    const out = this.outgoing.get(nodeId);
    if (out?.link == null) return reply({ status: 'not_done', reason: 'not_owner' });
    this.lastNo += 1;
    out.waiting.set(this.lastNo, reply);
    out.link.send({ kind: 'forward', no: this.lastNo, epoch, command } satisfies PeerMessage);
  }

  /** Null when the link is not there, or closes before the answer. The answer of this takes the question back. */
  ask(nodeId: NodeId, question: PeerQuestion, reply: (answer: PeerAnswer | null) => void): () => void {
    const out = this.outgoing.get(nodeId);
    if (out?.link == null) {
      reply(null);
      return () => undefined;
    }
    this.lastNo += 1;
    const no = this.lastNo;
    out.asked.set(no, reply);
    out.link.send({ kind: 'asks', no, question } satisfies PeerMessage);
    return () => void out.asked.delete(no);
  }

  stop(): void {
    this.isStopped = true;
    for (const out of this.outgoing.values()) {
      out.link?.close();
      this.failWaiting(out);
    }
    this.outgoing.clear();
  }

  private open(out: OutgoingLink): void {
    if (this.isStopped || this.outgoing.get(out.nodeId) !== out) return;
    this.session += 1;
    let isOpen = true;
    const handlers: PeerHandlers = {
      onMessage: (message) => {
        if (isOpen) this.takeAnswer(out, message);
      },
      onClose: () => {
        if (!isOpen) return;
        isOpen = false;
        out.link = null;
        this.failWaiting(out);
        this.events.onUnlinked(out.nodeId);
        if (!this.isStopped) this.clock.after(REOPEN_MS, () => this.open(out));
      },
    };
    const link = this.tryOpen(out, handlers);
    if (link === null || !isOpen) return;
    out.link = link;
    link.send({ kind: 'calls', nodeId: out.nodeId } satisfies PeerMessage);
    this.events.onLinked(out.nodeId);
  }

  /** An address that can't even be read is another node's fault, and must not stop this one. It may be mended. */
  private tryOpen(out: OutgoingLink, handlers: PeerHandlers): PeerLink | null {
    try {
      return this.network.open(out.address, { nodeId: this.self, session: this.session }, handlers);
    } catch (error) {
      const { nodeId, address } = out;
      this.log('warn', 'Another node can not be called at the address that it gives.', {
        nodeId,
        address,
        error: String(error),
      });
      this.clock.after(REFUSED_MS, () => this.open(out));
      return null;
    }
  }

  private failWaiting(out: OutgoingLink): void {
    const waiting = [...out.waiting.values()];
    out.waiting.clear();
    for (const reply of waiting) reply({ status: 'unknown' });
    const asked = [...out.asked.values()];
    out.asked.clear();
    for (const reply of asked) reply(null);
  }

  private takeAnswer(out: OutgoingLink, message: unknown): void {
    const answer = message as PeerMessage;
    if (answer.kind === 'forwarded') {
      const reply = out.waiting.get(answer.no);
      out.waiting.delete(answer.no);
      reply?.(answer.result);
    } else if (answer.kind === 'answers') {
      const reply = out.asked.get(answer.no);
      out.asked.delete(answer.no);
      reply?.(answer.answer);
    }
  }

  private accept(caller: PeerCaller, link: PeerLink): PeerHandlers {
    let isKnown = false;
    let isClosed = false;
    // A newer link of the same node voids this one: what it still carries may have been sent again.
    const isVoid = () => isClosed || this.callers.get(caller.nodeId)?.session !== caller.session;
    return {
      onMessage: (raw) => {
        const message = raw as PeerMessage;
        if (!isKnown) {
          isKnown = this.isMeant(caller, message);
          if (!isKnown) return link.close();
          this.callers.set(caller.nodeId, { session: caller.session, link });
          return this.events.onCalled(caller.nodeId);
        }
        if (isVoid()) return;
        if (message.kind === 'asks') {
          const answer = this.events.onQuestion(message.question);
          return link.send({ kind: 'answers', no: message.no, answer } satisfies PeerMessage);
        }
        if (message.kind !== 'forward') return this.events.onNotice(caller.nodeId, message);
        const { no, epoch, command } = message;
        const reply = (result: ForwardResult) => {
          if (!isClosed) link.send({ kind: 'forwarded', no, result } satisfies PeerMessage);
        };
        this.events.onForward(caller.nodeId, epoch, command, reply, isVoid);
      },
      onClose: () => {
        isClosed = true;
        this.log('info', 'A link from another node closed.', { from: caller.nodeId });
      },
    };
  }

  /**
   * A process that begins again has the address of the one before it, whose row is there for a while: links that are meant
   * for that one must not take the place of the link that is meant for us.
   */
  private isMeant({ nodeId, session }: PeerCaller, message: PeerMessage): boolean {
    const last = this.callers.get(nodeId)?.session ?? 0;
    return message.kind === 'calls' && message.nodeId === this.self && session > last;
  }
}
