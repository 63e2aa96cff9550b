export type {
  DagDefinition,
  EventView,
  LogLine,
  RunLogLine,
  RunPage,
  RunSummary,
  RunView,
  TaskView,
} from '@signalbox/protocol';
export { SignalboxError } from '@signalbox/protocol/errors';
export * from './client.ts';
export * from './dag/index.ts';
export * from './handler.ts';
export * from './sinks/index.ts';
