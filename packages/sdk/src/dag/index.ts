export type { ChildOptions } from './child-options.ts';
export { type Collected, collectDags } from './collect.ts';
export { type Dag, dag, isDag } from './dag.ts';
export type { Jsonified } from './jsonified.ts';
export type { EachRef, ItemOf, MapBuilder, MapOver, MappedTask, MapSource } from './map-options.ts';
export { DagMistake, type Place } from './mistake.ts';
export { type Ref, secret } from './ref.ts';
export type { HookInputs, Hooks, Side, UndoContext } from './side-options.ts';
export type {
  DagBuilder,
  DagOptions,
  Duration,
  FunctionOptions,
  HttpOptions,
  HttpOutput,
  ProcessOptions,
  Size,
  Task,
} from './task-options.ts';
export type { Template } from './template-options.ts';
