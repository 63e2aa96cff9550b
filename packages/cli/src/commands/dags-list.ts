/** `signalbox dags list`. */
import { connect, type PageFlags } from '../connection.ts';
import { coloured, colours, print, printJson, short, table } from '../output.ts';
import { next } from '../program-name.ts';

export interface ListDagsFlags extends PageFlags {
  readonly retired?: boolean;
}

export async function listDags(flags: ListDagsFlags): Promise<void> {
  const { limit, cursor, retired } = flags;
  const page = await (await connect(flags)).listDags({
    limit,
    ...(cursor === undefined ? {} : { cursor }),
    ...(retired ? { retired } : {}),
  });
  if (flags.json) return printJson(page);
  const rows = page.items.map((dag) => [
    dag.retiredAt === null ? dag.name : `${dag.name} ${coloured('retired')}`,
    String(dag.version),
    String(dag.taskCount),
    startedBy(dag),
    dag.schedule?.nextAt ?? '',
    dag.lastRun === null ? '' : coloured(dag.lastRun.outcome ?? dag.lastRun.state),
    short(dag.description ?? '', 60),
  ]);
  if (rows.length > 0) print(table(['dag', 'version', 'tasks', 'starts', 'next', 'last run', 'description'], rows));
  else print(`no dags yet; write one with: ${next('init')}`);
  if (page.cursor !== null) print(colours.dim(`more: --cursor ${page.cursor}`));
}

interface Started {
  readonly event: string | null;
  readonly schedule: { readonly fires: string; readonly zone: string; readonly paused: boolean } | null;
}

export function startedBy({ event, schedule }: Started): string {
  const ways = [
    ...(schedule === null
      ? []
      : [`${short(schedule.fires)} ${short(schedule.zone)}${schedule.paused ? ` ${coloured('paused')}` : ''}`]),
    ...(event === null ? [] : [`event ${short(event)}`]),
  ];
  return ways.join(', ') || 'on demand';
}
