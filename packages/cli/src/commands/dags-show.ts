/** `signalbox dags show`. */
import type { DagDetails } from '@signalbox/protocol';
import { type ClientFlags, connect } from '../connection.ts';
import { coloured, colours, plain, plainLines, print, printJson, short, spanText, table } from '../output.ts';
import { next } from '../program-name.ts';
import { startedBy } from './dags-list.ts';
import { paramsText } from './params-text.ts';

const TASKS_SHOWN = 200;

export async function showDag(name: string, flags: ClientFlags): Promise<void> {
  const dag = await (await connect(flags)).getDag(name);
  if (flags.json) return printJson(dag);
  print(`${colours.bold(dag.name)} version ${dag.version}, deployed ${dag.deployedAt}`);
  if (dag.source !== null) print(`from ${plain(dag.source)}`);
  if (dag.lastRun !== null)
    print(
      `last run: ${coloured(dag.lastRun.outcome ?? dag.lastRun.state)}, ${dag.lastRun.createdAt}, ${dag.lastRun.id}`,
    );
  if (dag.retiredAt !== null) print(colours.yellow(`deleted ${dag.retiredAt}: it starts no new runs`));
  if (dag.description !== null) print(plainLines(dag.description));
  if (dag.owner !== null) print(`owner: ${plain(dag.owner)}`);
  if (dag.tags.length > 0) print(`tags: ${plain(dag.tags.join(', '))}`);
  print(`starts: ${startedBy(dag)}${dag.schedule?.nextLocal ? `, next ${dag.schedule.nextLocal}` : ''}`);
  if (dag.scheduleCount > 1) print(colours.dim(`all schedules: ${next(`schedules --dag ${dag.name}`)}`));
  if (dag.onFailure !== 'continue') print(`on failure: ${dag.onFailure}`);
  print(paramsText(dag.params));
  const rows = dag.tasks
    .slice(0, TASKS_SHOWN)
    .map((task) => [task.name, doesOf(task), needsOf(task), task.queue, limitsOf(task)]);
  const templates = dag.templates.map((task) => [
    `${task.name} (template)`,
    ...[doesOf(task), needsOf(task), task.queue, limitsOf(task)],
  ]);
  print(table(['task', 'does', 'needs', 'queue', 'limits'], [...rows, ...templates]));
  if (dag.tasks.length > TASKS_SHOWN)
    print(colours.dim(`… and ${dag.tasks.length - TASKS_SHOWN} more; use --json to see all`));
  print(colours.dim(`run it with: ${next(`runs trigger ${dag.name} --wait`)}`));
}

type TaskSpec = DagDetails['tasks'][number];

function doesOf({ kind, handler, child }: TaskSpec): string {
  if (child !== null) return `dag ${child.dag}${child.wait ? '' : ', without waiting'}`;
  return kind === 'handler' ? `handler ${short(handler ?? '')}` : kind;
}

/** What must come before it, and how that decides. */
function needsOf({ needs, rule, when, branch, shortCircuit, adds }: TaskSpec): string {
  const parts = [
    short(needs.join(', '), 60),
    ...(rule === 'all_success' ? [] : [`(${rule})`]),
    ...(when === null ? [] : [`when ${short(when, 60)}`]),
    ...(branch ? ['→ branch'] : []),
    ...(adds ? ['→ adds tasks'] : []),
    ...(shortCircuit === null ? [] : [`→ short circuit${shortCircuit === 'all' ? ' of all' : ''}`]),
  ];
  return parts.join(' ').trim();
}

function limitsOf({ retries, timeoutMs }: TaskSpec): string {
  const parts = [
    ...(retries.maxAttempts > 1 ? [`${retries.maxAttempts} attempts`] : []),
    ...(timeoutMs === null ? [] : [`within ${spanText(timeoutMs)}`]),
  ];
  return parts.join(', ');
}
