/** All commands, in the order in which help shows them. */
import type { CommandDefinition, GroupDefinition } from '../define.ts';
import { accessCommands } from './access.ts';
import { assetCommands } from './assets.ts';
import { authoringCommands } from './authoring.ts';
import { backfillCommands } from './backfills.ts';
import { costCommands } from './costs.ts';
import { dagCommands } from './dags.ts';
import { deadLetterCommands } from './dead-letters.ts';
import { fleetCommands } from './fleet.ts';
import { freezeCommands } from './freezes.ts';
import { jobCommands } from './jobs.ts';
import { limitCommands } from './limits.ts';
import { machineCommands } from './machine.ts';
import { manualCommands } from './manual.ts';
import { processCommands } from './processes.ts';
import { quotaCommands } from './quotas.ts';
import { reservationCommands } from './reservations.ts';
import { runCommands } from './runs.ts';
import { scheduleCommands } from './schedules.ts';
import { tenantCommands } from './tenants.ts';
import { watchingCommands } from './watching.ts';
import { webhookCommands } from './webhooks.ts';

export const GROUPS: readonly GroupDefinition[] = [
  { name: 'dags', summary: 'list, show, pause and delete dags' },
  { name: 'schedules', summary: 'list, show, create, edit, pause, resume and delete schedules' },
  { name: 'backfills', summary: 'list, show, watch, pause, resume and cancel backfills' },
  { name: 'runs', summary: 'submit, follow, list, cancel, retry, clear and pause runs' },
  { name: 'jobs', summary: 'run commands, HTTP calls and deployed tasks without a dag: now, later, again and again' },
  { name: 'tasks', summary: 'mark, clear, cancel and pause tasks of a run' },
  { name: 'events', summary: 'follow events, and send events that start runs' },
  { name: 'assets', summary: 'what tasks produce, and what makes dags run: list, show, materialize' },
  { name: 'webhooks', summary: 'addresses that outside systems call to start runs' },
  { name: 'dead-letters', summary: 'tasks that failed for good: list, group, show, replay, discard' },
  { name: 'breakers', summary: 'list and reset breakers, which hold tasks back while something is broken' },
  { name: 'callbacks', summary: 'HTTP callbacks that are sent when runs end' },
  { name: 'workers', summary: 'list, cordon and drain workers' },
  { name: 'queues', summary: 'list queues, and drain workers of one' },
  { name: 'limits', summary: 'pools and caps over several dags: list, show who has slots, set, remove' },
  { name: 'reservations', summary: 'slots that are kept for a dag or a tenant at certain times: list, create, delete' },
  { name: 'costs', summary: 'what attempts cost, prices and budgets' },
  { name: 'zones', summary: 'show and upgrade the time zone data of the cluster' },
  { name: 'settings', summary: 'show and change settings of the cluster' },
  { name: 'tenants', summary: 'teams that share the installation: create, weigh, suspend, resume, delete' },
  { name: 'quotas', summary: 'how much a tenant may ask for: list, set, raise for a while, remove' },
  { name: 'tokens', summary: 'create, list and revoke credentials' },
];

/** As help shows them: what somebody needs first comes first. */
export const SECTIONS: readonly (readonly [heading: string, commands: readonly CommandDefinition[]])[] = [
  ['Run Signalbox:', processCommands],
  ['Write dags:', authoringCommands],
  [
    'Use dags:',
    [
      ...dagCommands,
      ...scheduleCommands,
      ...backfillCommands,
      ...runCommands,
      ...jobCommands,
      ...manualCommands,
      ...deadLetterCommands,
      ...watchingCommands,
      ...webhookCommands,
      ...assetCommands,
    ],
  ],
  [
    'Operate:',
    [
      ...fleetCommands,
      ...freezeCommands,
      ...limitCommands,
      ...reservationCommands,
      ...tenantCommands,
      ...quotaCommands,
      ...costCommands,
      ...accessCommands,
      ...machineCommands,
    ],
  ],
];

export const COMMANDS: readonly CommandDefinition[] = SECTIONS.flatMap(([, commands]) => commands);
