import type { NodeId } from '@signalbox/engine';
import type { NodeSeen } from '@signalbox/store';
import { expect, test } from 'vitest';
import type { PeerCaller, PeerHandlers, PeerLink } from '../ports.ts';
import { Peers } from './peers.ts';

const [self, other] = ['self.2', 'other.1'] as NodeId[] as [NodeId, NodeId];

interface Incoming extends PeerHandlers {
  isClosed: boolean;
  readonly replies: unknown[];
}

function setUp() {
  let onLink: ((caller: PeerCaller, link: PeerLink) => PeerHandlers) | null = null;
  const heard: string[] = [];
  const noted: unknown[] = [];
  const opened: PeerHandlers[] = [];
  const timers: (() => void)[] = [];
  const sent: unknown[] = [];
  const clock = {
    wall: () => 0 as never,
    mono: () => 0 as never,
    after: (_ms: number, run: () => void) => {
      timers.push(run);
      return () => undefined;
    },
  };
  const network = {
    open: (address: string, _caller: PeerCaller, handlers: PeerHandlers) => {
      if (address.includes(' ')) throw new TypeError(`${address} is no address`);
      opened.push(handlers);
      return { send: (message: unknown) => sent.push(message), close: () => undefined };
    },
    listen: (run: typeof onLink) => {
      onLink = run;
    },
  };
  const peers = new Peers(
    self,
    { network, clock, log: () => undefined },
    {
      onForward: () => undefined,
      onQuestion: () => ({ what: 'workers', workers: [] }),
      onNotice: (_from, message) => noted.push(message.kind),
      onLinked: () => undefined,
      onCalled: (nodeId) => heard.push(nodeId),
      onUnlinked: () => undefined,
    },
  );
  /** Another node opens a link and names the node that it wants. */
  const call = (session: number, meant: NodeId = self): Incoming => {
    const incoming = { isClosed: false, replies: [] as unknown[] };
    const link: PeerLink = {
      send: (message) => incoming.replies.push(message),
      close: () => {
        incoming.isClosed = true;
      },
    };
    const handlers = onLink!({ nodeId: other, session }, link);
    handlers.onMessage({ kind: 'calls', nodeId: meant });
    return Object.assign(incoming, handlers);
  };
  return { peers, call, heard, noted, opened, sent, timers };
}

const row = (nodeId: NodeId): NodeSeen => ({
  nodeId,
  beat: 1,
  peerAddress: '',
  gatewayAddress: '',
  dataAddress: '',
  leaving: false,
  reach: null,
  journalFormat: null,
});

test('a link that is meant for the process before us, at this address, voids none that is meant for us', () => {
  const { call, noted } = setUp();
  const ours = call(5);
  const theirs = call(6, 'self.1' as NodeId);
  expect(theirs.isClosed).toBe(true);
  ours.onMessage({ kind: 'released' });
  expect(noted).toEqual(['released']);
});

test('of two links of one node the newer one counts, in whichever order they come (I11)', () => {
  const { call, noted } = setUp();
  const newer = call(2);
  const older = call(1);
  expect(older.isClosed).toBe(true);
  newer.onMessage({ kind: 'released' });
  expect(noted).toEqual(['released']);
});

test('a node that is thought dead learns it by the end of its link, calls anew, and is heard again (I29)', () => {
  const { peers, call, heard, noted } = setUp();
  peers.update([row(self), row(other)]);
  const first = call(1);
  peers.update([row(self)]);
  expect(first.isClosed).toBe(true);
  const second = call(2);
  second.onMessage({ kind: 'released' });
  expect(noted).toEqual(['released']);
  expect(heard).toEqual([other, other]);
});

test('what is said before whom is meant is not listened to', () => {
  const { call, noted } = setUp();
  const late = call(3, 'self.1' as NodeId);
  late.onMessage({ kind: 'released' });
  expect(noted).toEqual([]);
});

test('a question is answered on the link it came by', () => {
  const { call } = setUp();
  const incoming = call(1);
  incoming.onMessage({ kind: 'asks', no: 4, question: { what: 'workers' } });
  expect(incoming.replies).toEqual([{ kind: 'answers', no: 4, answer: { what: 'workers', workers: [] } }]);
});

test('whoever asks hears nothing where no link is, and nothing more when it closes', () => {
  const { peers, sent, opened } = setUp();
  const heard: unknown[] = [];
  peers.ask(other, { what: 'workers' }, (answer) => heard.push(answer));
  expect(heard).toEqual([null]);
  peers.update([row(self), row(other)]);
  peers.ask(other, { what: 'workers' }, (answer) => heard.push(answer));
  const { no } = sent.at(-1) as { no: number };
  opened[0]?.onMessage({ kind: 'answers', no, answer: { what: 'workers', workers: [] } });
  peers.ask(other, { what: 'workers' }, (answer) => heard.push(answer));
  const forget = peers.ask(other, { what: 'workers' }, (answer) => heard.push(answer));
  forget();
  opened[0]?.onClose();
  expect(heard).toEqual([null, { what: 'workers', workers: [] }, null]);
});

test('an address that can not be read stops nothing, and is tried again', () => {
  const { peers, opened, timers } = setUp();
  const bad = { ...row('bad.1' as NodeId), peerAddress: 'not an address' };
  peers.update([row(self), bad, row(other)]);
  expect(opened).toHaveLength(1);
  expect(peers.tell('bad.1' as NodeId, { kind: 'released' })).toBe(false);
  expect(() => timers.splice(0).forEach((run) => run())).not.toThrow();
  expect(timers).toHaveLength(1);
});
