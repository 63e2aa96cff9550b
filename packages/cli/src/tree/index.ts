/** All commands, in the order in which help shows them. */
import type { CommandDefinition, GroupDefinition } from '../define.ts';
import { accessCommands } from './access.ts';
import { authoringCommands } from './authoring.ts';
import { dagCommands } from './dags.ts';
import { deadLetterCommands } from './dead-letters.ts';
import { fleetCommands } from './fleet.ts';
import { machineCommands } from './machine.ts';
import { manualCommands } from './manual.ts';
import { processCommands } from './processes.ts';
import { runCommands } from './runs.ts';
import { watchingCommands } from './watching.ts';

export const GROUPS: readonly GroupDefinition[] = [
  { name: 'dags', summary: 'what can be run: list, show, pause, delete' },
  { name: 'runs', summary: 'submit, follow, list, cancel, retry, clear and pause runs' },
  { name: 'tasks', summary: 'mark, clear, cancel and pause tasks of a run' },
  { name: 'events', summary: 'what happens, as it happens; and send events that start runs' },
  { name: 'dead-letters', summary: 'what failed for good: list, group, show, replay, discard' },
  { name: 'breakers', summary: 'what holds tasks back while something is broken' },
  { name: 'callbacks', summary: 'calls that tell others that runs have ended' },
  { name: 'workers', summary: 'who runs the tasks' },
  { name: 'tokens', summary: 'credentials: make, list, revoke' },
];

/** As help shows them: what somebody needs first comes first. */
export const SECTIONS: readonly (readonly [heading: string, commands: readonly CommandDefinition[]])[] = [
  ['Run Signalbox:', processCommands],
  ['Write dags:', authoringCommands],
  ['Use dags:', [...dagCommands, ...runCommands, ...manualCommands, ...deadLetterCommands, ...watchingCommands]],
  ['Look after it:', [...fleetCommands, ...accessCommands, ...machineCommands]],
];

export const COMMANDS: readonly CommandDefinition[] = SECTIONS.flatMap(([, commands]) => commands);
