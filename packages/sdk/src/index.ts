export {
  type DagDefinition,
  type RunPage,
  type RunSummary,
  type RunView,
  SignalboxError,
  type TaskView,
} from '@signalbox/protocol';
export * from './client.ts';
export * from './dag/index.ts';
export * from './handler.ts';
