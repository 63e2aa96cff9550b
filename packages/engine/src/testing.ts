/** For tests of packages that use the engine: a server without threads, scripted workers, small dags. */

export { CallLines } from './testing/call-lines.ts';
export { MemoryStore } from './testing/memory-store.ts';
export type { KeptRow } from './testing/model-store/described.ts';
export { byId, liveRuns } from './testing/model-store/live-runs.ts';
export { Gathering, readLive, readNeeds } from './testing/model-store/read.ts';
export * from './testing/model-store/tables.ts';
export { Violation } from './testing/model-store/violation.ts';
export { writeChanges } from './testing/model-store/write.ts';
export { isClosing, naiveClosing, naiveClosingNodes } from './testing/naive-closing.ts';
export { type NaiveEnd, naiveName, naiveNodes, naiveStates } from './testing/naive-states.ts';
export { type NodeOptions, START, TestNode } from './testing/node.ts';
export * from './testing/scenario.ts';
export { ScriptedWorker } from './testing/scripted-worker.ts';
export { SlotLines } from './testing/slot-lines.ts';
export * from './testing/specs.ts';
