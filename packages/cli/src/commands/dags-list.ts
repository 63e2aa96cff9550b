/** `signalbox dags list`. */
import type { DagView } from '@signalbox/protocol';
import { connect, type PageFlags } from '../connection.ts';
import { coloured, colours, print, printJson, short, table } from '../output.ts';
import { next } from '../program-name.ts';

export interface ListDagsFlags extends PageFlags {
  readonly retired?: boolean;
  readonly tag?: string;
  readonly owner?: string;
}

export async function listDags(flags: ListDagsFlags): Promise<void> {
  const { limit, cursor, retired, tag, owner } = flags;
  const page = await (await connect(flags)).listDags({
    limit,
    ...(cursor === undefined ? {} : { cursor }),
    ...(retired ? { retired } : {}),
    ...(tag === undefined ? {} : { tag }),
    ...(owner === undefined ? {} : { owner }),
  });
  if (flags.json) return printJson(page);
  const isLabelled = page.items.some((dag) => dag.tags.length > 0 || dag.owner !== null);
  const rows = page.items.map((dag) => [
    dag.retiredAt === null ? dag.name : `${dag.name} ${coloured('retired')}`,
    String(dag.version),
    String(dag.taskCount),
    startedBy(dag),
    dag.schedule?.nextLocal ?? '',
    dag.lastRun === null ? '' : coloured(dag.lastRun.outcome ?? dag.lastRun.state),
    ...(isLabelled ? [short(dag.tags.join(' '), 40), short(dag.owner ?? '', 40)] : []),
    short(dag.description ?? '', 60),
  ]);
  const labels = isLabelled ? ['tags', 'owner'] : [];
  const head = ['dag', 'version', 'tasks', 'starts', 'next', 'last run', ...labels, 'description'];
  if (rows.length > 0) print(table(head, rows));
  else if (tag !== undefined || owner !== undefined) print('no dag matches');
  else print(`no dags yet; write one with: ${next('init')}`);
  if (page.cursor !== null) print(colours.dim(`more: --cursor ${page.cursor}`));
}

interface Started {
  readonly scheduleCount: number;
  readonly event: string | null;
  readonly triggers: DagView['triggers'];
  readonly schedule: { readonly fires: string; readonly zone: string; readonly paused: boolean } | null;
}

export function startedBy({ event, triggers, schedule, scheduleCount }: Started): string {
  const assets = triggers[0]?.assets;
  const more = scheduleCount > 1 ? ` and ${scheduleCount - 1} more` : '';
  const ways = [
    ...(schedule === null
      ? []
      : [`${short(schedule.fires)} ${short(schedule.zone)}${schedule.paused ? ` ${coloured('paused')}` : ''}${more}`]),
    ...(assets === undefined
      ? event === null
        ? []
        : [`event ${short(event)}`]
      : [`${assets.mode} of the assets ${short(assets.names.join(', '))}`]),
  ];
  return ways.join(', ') || 'on demand';
}
