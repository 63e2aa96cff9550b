/** `signalbox events expected`. */
import { type ClientFlags, connect } from '../connection.ts';
import { colours, print, printJson, short, table } from '../output.ts';

export interface ExpectedFlags extends ClientFlags {
  readonly dag?: string;
}

export async function listExpected({ dag, ...flags }: ExpectedFlags): Promise<void> {
  const page = await (await connect(flags)).listExpectations(dag === undefined ? {} : { dag });
  if (flags.json) return printJson(page);
  if (page.items.length === 0) return print('no dag expects events');
  const rows = page.items.map((one) => [
    short(one.dag),
    short(one.name),
    one.by === undefined ? `within ${(one.withinMs ?? 0) / 1_000} s` : `by ${short(one.by)} ${one.zone ?? ''}`,
    one.lastAt ?? 'never',
    one.due ?? colours.red('missing'),
  ]);
  print(table(['dag', 'event', 'expected', 'came last', 'due'], rows));
}
