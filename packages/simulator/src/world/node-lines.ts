/** The streams of one node: to and from other nodes, and from workers. What passes is seen by those who watch. */
import type { ClaimRef, NodeId, WorkerId } from '@signalbox/engine';
import type {
  Host,
  PeerCaller,
  PeerHandlers,
  PeerLink,
  PeerMessage,
  PeerNetwork,
  WorkerDoor,
  WorkerHello,
  WorkerSays,
} from '@signalbox/host';
import { asReceived } from '../copy.ts';
import type { Door, Opening } from './door.ts';
import type { Environment } from './environment.ts';
import type { Line, LineEnd } from './line.ts';
import type { Process } from './process.ts';
import type { GatewayFrame, WorkerFrame } from './worker-frames.ts';

/** Opens a stream to whatever runs on that machine when the opening arrives there. */
export function openLine(world: Environment, machine: string, opening: Opening, from: LineEnd): Line {
  let far: LineEnd | null = null;
  const line: Line = world.network.open(from, {
    at: machine,
    onFrame: (frame) => {
      if (far !== null) return far.onFrame(frame);
      const door = world.doors.get(machine);
      if (door === undefined || !door.process.isAlive) return void line.close(1);
      far = door.accept(frame as Opening, line);
    },
    onClose: () => far?.onClose(),
  });
  line.send(0, opening);
  return line;
}

export class NodeLines implements PeerNetwork {
  readonly #world: Environment;
  readonly #machine: string;
  readonly #process: Process;
  readonly #nodeId: NodeId;
  #onLink: ((caller: PeerCaller, link: PeerLink) => PeerHandlers) | null = null;
  #host: Host | null = null;
  /** The newest link of each node that calls: what still comes over an older one is not listened to. */
  readonly #sessions = new Map<NodeId, number>();

  constructor(world: Environment, machine: string, process: Process, nodeId: NodeId) {
    this.#world = world;
    this.#machine = machine;
    this.#process = process;
    this.#nodeId = nodeId;
  }

  serve(host: Host): void {
    this.#host = host;
    const accept: Door['accept'] = (opening, line) =>
      opening.opens === 'peer' ? this.#acceptPeer(opening.caller, line) : this.#acceptWorker(opening.hello, line);
    this.#world.doors.set(this.#machine, { process: this.#process, accept });
  }

  open(address: string, self: PeerCaller, handlers: PeerHandlers): PeerLink {
    if (!this.#process.isAlive) return { send: () => undefined, close: () => undefined };
    const line = openLine(
      this.#world,
      address,
      { opens: 'peer', caller: self },
      this.#end({
        onFrame: (frame) => handlers.onMessage(frame),
        onClose: () => handlers.onClose(),
      }),
    );
    return this.#link(line, 0, handlers);
  }

  listen(onLink: (caller: PeerCaller, link: PeerLink) => PeerHandlers): void {
    this.#onLink = onLink;
  }

  #acceptPeer(caller: PeerCaller, line: Line): LineEnd {
    let handlers: PeerHandlers | null = null;
    this.#process.deliver(() => {
      this.#world.tellWire(() => `${this.#machine} is called by ${caller.nodeId}, session ${caller.session}`);
      const told: PeerHandlers = { onMessage: () => undefined, onClose: () => handlers?.onClose() };
      handlers = this.#onLink?.(caller, this.#link(line, 1, told)) ?? null;
    });
    return this.#end({
      onFrame: (frame) => {
        this.#world.tellWire(
          () => `${this.#machine} gets ${JSON.stringify(frame)} from ${caller.nodeId} session ${caller.session}`,
        );
        if ((frame as PeerMessage).kind === 'calls') this.#sessions.set(caller.nodeId, caller.session);
        if (this.#sessions.get(caller.nodeId) === caller.session) this.#notice(frame as PeerMessage);
        handlers?.onMessage(frame);
      },
      onClose: () => handlers?.onClose(),
    });
  }

  #link(line: Line, side: 0 | 1, handlers: PeerHandlers): PeerLink {
    return {
      send: (message) => {
        if (!this.#process.maySend()) return;
        const sent = message as PeerMessage;
        if (sent.kind === 'assigned') {
          const { workerId } = sent;
          for (const assignment of sent.assignments) {
            this.#world.history.add({ kind: 'assigned', node: this.#machine, to: 'gateway', workerId, assignment });
          }
        }
        this.#world.tellWire(() => `${this.#machine} sends ${JSON.stringify(message)}`);
        if (sent.kind === 'killed') {
          const { workerId } = sent;
          for (const kill of sent.kills) {
            this.#world.history.add({ kind: 'killed', node: this.#machine, workerId, kill });
          }
        }
        // As text, like on a real wire: nothing is shared.
        line.send(side, asReceived(message));
      },
      close: () => {
        if (!this.#process.isAlive || !line.close(side)) return;
        // Whoever closes a link is told so too, a moment later.
        this.#world.events.in(0, () => this.#process.deliver(() => handlers.onClose()));
      },
    };
  }

  #notice(message: PeerMessage): void {
    if (message.kind !== 'heard') return;
    const { workerId, agoMs, holds } = message;
    this.#heard(workerId, agoMs, holds);
  }

  #heard(workerId: WorkerId, agoMs: number, holds: readonly ClaimRef[]): void {
    this.#world.history.add({ kind: 'heard', node: this.#machine, nodeId: this.#nodeId, workerId, agoMs, holds });
  }

  #acceptWorker(hello: WorkerHello, line: Line): LineEnd {
    const send = (frame: GatewayFrame) => {
      if (this.#process.isAlive) line.send(1, frame);
    };
    const { history } = this.#world;
    const [node, { workerId }] = [this.#machine, hello];
    const door: WorkerDoor = {
      assign: (assignments) => {
        if (!this.#process.maySend()) return;
        for (const assignment of assignments)
          history.add({ kind: 'assigned', node, to: 'worker', workerId, assignment });
        send({ kind: 'assign', assignments });
      },
      kill: (kills) => {
        if (!this.#process.maySend()) return;
        for (const kill of kills) history.add({ kind: 'killed', node, workerId, kill });
        send({ kind: 'kill', kills });
      },
      answer: (answers) => {
        if (!this.#process.maySend()) return;
        for (const answer of answers) history.add({ kind: 'verdict', node, workerId, answer });
        send({ kind: 'answer', answers });
      },
      requestAnswers: (answers) => {
        if (this.#process.maySend()) send({ kind: 'askAnswers', answers });
      },
      epochs: (epochs) => send({ kind: 'epochs', epochs }),
      heartbeatAnswered: (no) => send({ kind: 'heartbeatAnswered', no }),
      drain: () => send({ kind: 'drain' }),
      close: () => {
        if (this.#process.isAlive) line.close(1);
      },
    };
    let says: WorkerSays | null = null;
    this.#process.deliver(() => {
      send({ kind: 'welcome', machines: this.#world.nodes.map(({ machine }) => machine) });
      this.#heard(
        workerId,
        0,
        hello.holds.map(({ claim }) => claim),
      );
      says = this.#host?.gateway.attach(hello, door) ?? null;
    });
    return this.#end({
      onFrame: (raw) => {
        const frame = raw as WorkerFrame;
        if (frame.kind === 'ping') return send({ kind: 'pingAnswered' });
        if (frame.kind === 'heartbeat') this.#heard(workerId, 0, frame.holds);
        else history.add({ kind: 'spoke', node, workerId });
        this.#hear(says, frame);
      },
      onClose: () => says?.closed(),
    });
  }

  #hear(says: WorkerSays | null, frame: WorkerFrame): void {
    switch (frame.kind) {
      case 'heartbeat':
        return says?.heartbeat(frame.no, frame.holds, frame.progress);
      case 'reports':
        return says?.reports(frame.reports);
      case 'refusals':
        return says?.refusals(frame.refusals);
      case 'holdings':
        return says?.holdings(frame.epochs, frame.holds);
      case 'asks':
        return says?.requests(frame.asks);
      case 'draining':
        return says?.draining();
      case 'leaving':
        return says?.leaving();
      case 'ping':
        return;
    }
  }

  /** What arrives waits while the process is paused. */
  #end(handlers: { onFrame(frame: unknown): void; onClose(): void }): LineEnd {
    return {
      at: this.#machine,
      onFrame: (frame) => this.#process.deliver(() => handlers.onFrame(frame)),
      onClose: () => this.#process.deliver(() => handlers.onClose()),
    };
  }
}
