/** A store that keeps no promise about loads: what it loads after a take was read before the epoch was raised (I16). */
import type { LoadedHeads, Store } from '../port.ts';
import type { StoreSubject } from './subject.ts';

export function loadingBeforeTheTake(subject: StoreSubject): StoreSubject {
  const inner = new Map<Store, Store>();
  return {
    open: async () => {
      const store = await subject.open();
      const wrapped = loadingEarly(store);
      inner.set(wrapped, store);
      return wrapped;
    },
    hold: (store, point) => subject.hold(inner.get(store) ?? store, point),
    waitingForLock: () => subject.waitingForLock(),
    restartDatabase: () => subject.restartDatabase(),
    close: () => subject.close(),
  };
}

function loadingEarly(store: Store): Store {
  let early: LoadedHeads | null = null;
  return {
    registerNode: (node) => store.registerNode(node),
    beat: (nodeId, windowGraceMs) => store.beat(nodeId, windowGraceMs),
    markLeaving: (nodeId) => store.markLeaving(nodeId),
    tellReach: (nodeId, reach) => store.tellReach(nodeId, reach),
    forgetNode: (nodeId) => store.forgetNode(nodeId),
    observe: () => store.observe(),
    takeShards: async (request) => {
      early = await store.loadHeads(
        request.shards.map(({ shard }) => shard),
        1_000,
      );
      return store.takeShards(request);
    },
    releaseShards: (nodeId, shards) => store.releaseShards(nodeId, shards),
    noteCurrentRun: (shard, epoch, runId) => store.noteCurrentRun(shard, epoch, runId),
    loadHeads: async (shards, headsPerPriority) => {
      const heads = await store.loadHeads(shards, headsPerPriority);
      const { runs } = early ?? heads;
      early = null;
      // The numbers are new, so that its commits go through; the runs are old.
      return { ...heads, runs };
    },
    loadRest: (shards, after, limit) => store.loadRest(shards, after, limit),
    fetch: (needs) => store.fetch(needs),
    fetchPayloads: (keys) => store.fetchPayloads(keys),
    findDag: (tenantId, name) => store.findDag(tenantId, name),
    dagsOnAsset: (tenantId, asset) => store.dagsOnAsset(tenantId, asset),
    openChain: (nodeId) => store.openChain(nodeId),
  };
}
