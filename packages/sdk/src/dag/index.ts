export type { Duration, Size } from './amounts.ts';
export type { DagBuilder, MapBuilder } from './builder.ts';
export type { ChildOptions } from './child-options.ts';
export { type Collected, collectDags } from './collect.ts';
export { dag } from './dag.ts';
export { type Dag, isDag } from './dag-value.ts';
export type { Jsonified } from './jsonified.ts';
export type { EachRef, ItemOf, MapOver, MappedTask, MapSource } from './map-options.ts';
export { DagMistake, type Place } from './mistake.ts';
export { type Ref, secret } from './ref.ts';
export type { HookInputs, Hooks, Side, UndoContext } from './side-options.ts';
export type {
  DagOptions,
  FunctionOptions,
  HttpOptions,
  HttpOutput,
  ProcessOptions,
  Task,
} from './task-options.ts';
export type { Template } from './template-options.ts';
