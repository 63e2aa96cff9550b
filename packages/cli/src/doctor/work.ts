/** Finds work that does not continue: waiting runs, breakers, paused schedules, dead letters. Says why, and what to type. */
import type { Client, RunView } from '@signalbox/sdk';
import { plain } from '../output.ts';
import { next } from '../program-name.ts';
import { type Finding, ok, warn } from './check.ts';

type Asked = Pick<Client, 'listRuns' | 'getRun' | 'listBreakers' | 'listDags' | 'listDeadLetterGroups'>;

const RUNS_ASKED = 20;
const SHOWN = 3;

/** What a person must do something about; the others end by themselves. */
const REMEDIES: Readonly<Record<string, (run: RunView) => string>> = {
  no_worker: (run) => `Start a worker for this queue: ${next(`worker --queues ${queueIn(run)}`)}`,
  run_paused: ({ id }) => `Resume it: ${next(`runs resume ${id}`)}`,
  task_paused: ({ id }) => `Resume it: ${next(`tasks resume ${id} <task>`)}`,
  breaker: ({ dag }) => `Fix the cause, then run: ${next(`breakers reset ${dag}`)}`,
  set_aside: ({ id }) => `Report a bug with the output of: ${next(`runs show ${id} --json`)}`,
};

const queueIn = ({ why }: RunView): string => /queue "([^"]+)"/.exec(why?.message ?? '')?.[1] ?? '<queue>';

export async function checkWork(client: Asked): Promise<Finding[]> {
  const found = await Promise.all([runs(client), breakers(client), schedules(client), letters(client)]);
  return found.flat();
}

async function runs(client: Asked): Promise<Finding[]> {
  const pages = await Promise.all(
    (['queued', 'open', 'set_aside'] as const).map((state) => client.listRuns({ state, limit: RUNS_ASKED })),
  );
  const ids = [...new Set(pages.flatMap(({ items }) => items.map(({ id }) => id)))].slice(0, RUNS_ASKED);
  const seen = await Promise.all(ids.map((id) => client.getRun(id).catch(() => null)));
  const held = seen.filter((run) => run !== null).filter(({ why }) => why !== null && why.code in REMEDIES);
  if (held.length === 0) return [ok('runs', ids.length === 0 ? 'none open' : `${ids.length} open, none blocked`)];
  const findings = held
    .slice(0, SHOWN)
    .map((run) =>
      warn(
        'runs',
        `Run ${run.id} of ${run.dag}: ${run.why?.message ?? ''}`,
        REMEDIES[run.why?.code ?? '']?.(run) ?? '',
      ),
    );
  if (held.length > SHOWN) {
    findings.push(
      warn('runs', `${held.length - SHOWN} more runs are blocked.`, `List them: ${next('runs list --state open')}`),
    );
  }
  return findings;
}

async function breakers(client: Asked): Promise<Finding[]> {
  const { items } = await client.listBreakers({});
  if (items.length === 0) return [ok('breakers', 'none open')];
  return items.slice(0, SHOWN).map(({ dag, fingerprint, openedAt, error }) => {
    const which = fingerprint === null ? `the breaker of dag ${dag}` : `a breaker of dag ${dag} (error ${fingerprint})`;
    const why = error === null ? '' : `: ${plain(error.split('\n', 1)[0] ?? '')}`;
    return warn(
      'breakers',
      `Open since ${openedAt}: ${which}${why}`,
      `Fix the cause, then run: ${next(`breakers reset ${dag}`)}`,
    );
  });
}

async function schedules(client: Asked): Promise<Finding[]> {
  const { items } = await client.listDags({ limit: 100 });
  const paused = items.filter(({ schedule }) => schedule?.paused === true);
  if (paused.length === 0) return [];
  return paused.slice(0, SHOWN).map(({ name, schedule }) => {
    const why = schedule?.fault == null ? '' : ` by the server: ${plain(schedule.fault)}`;
    return warn('schedules', `The schedule of ${name} is paused${why}.`, `Resume it: ${next(`dags resume ${name}`)}`);
  });
}

async function letters(client: Asked): Promise<Finding[]> {
  const { items } = await client.listDeadLetterGroups({});
  const count = items.reduce((sum, group) => sum + group.count, 0);
  if (count === 0) return [ok('dead letters', 'none open')];
  const what = `${count} ${count === 1 ? 'task' : 'tasks'} failed for good, with ${items.length === 1 ? 'one cause' : `${items.length} causes`}.`;
  return [warn('dead letters', what, `List them: ${next('dead-letters groups')}`)];
}
