/** For tests of what stands on the engine: a server without threads, scripted workers, small dags. */

export { MemoryStore } from './testing/memory-store.ts';
export { isClosing, naiveClosing, naiveClosingNodes } from './testing/naive-closing.ts';
export { type NaiveEnd, naiveName, naiveNodes, naiveStates } from './testing/naive-states.ts';
export { type NodeOptions, START, TestNode } from './testing/node.ts';
export * from './testing/scenario.ts';
export { ScriptedWorker } from './testing/scripted-worker.ts';
export * from './testing/specs.ts';
