/** `signalbox costs`. */
import { writeFileSync } from 'node:fs';
import { type BudgetView, type Costs, type CostsQuery, costsCsv, type RateCardView } from '@signalbox/protocol';
import { type ClientFlags, connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { colours, print, printJson, short, table } from '../output.ts';
import { CliError } from '../problem.ts';
import { next } from '../program-name.ts';

export interface CostsFlags extends ClientFlags {
  readonly by?: CostsQuery['by'];
  readonly from?: string;
  readonly to?: string;
  readonly dag?: string;
  readonly csv?: string;
}

export async function showCosts({ by, from, to, dag, csv, ...flags }: CostsFlags): Promise<void> {
  const filter = {
    ...(by !== undefined && { by }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(dag !== undefined && { dag }),
  };
  const costs = await (await connect(flags)).getCosts(filter);
  if (csv === '-') process.stdout.write(costsCsv(costs));
  else if (csv !== undefined) writeFileSync(csv, costsCsv(costs));
  if (csv !== undefined) return;
  if (flags.json) return printJson(costs);
  printCosts(costs);
}

function printCosts({ by, from, to, currency, items, total }: Costs): void {
  if (currency === null) {
    print('there is no rate card, so nothing is summed');
    print(colours.dim(`an admin of the tenant default sets it: ${next('costs set-rates --slot-hour 0.04')}`));
    return;
  }
  const rowOf = (name: string, row: Costs['total']) => [
    name,
    String(row.attempts),
    ...[row.slotHours, row.cpuHours, row.gibHours].map((hours) => hours.toFixed(2)),
    row.cost.toFixed(2),
  ];
  const rows = items.map((item) => rowOf(item.name === null ? '(gone)' : short(item.name), item));
  print(table([by, 'attempts', 'slot h', 'cpu h', 'GiB h', currency], [...rows, rowOf('total', total)]));
  print(colours.dim(`${from} to ${to}, UTC`));
}

export async function showRates(flags: ClientFlags): Promise<void> {
  const page = await (await connect(flags)).listRateCards();
  if (flags.json) return printJson(page);
  const [newest] = page.items;
  if (newest === undefined) return print('there is no rate card, so nothing is summed');
  printRates(newest);
  for (const older of page.items.slice(1)) print(colours.dim(`before: from ${older.from}, by ${short(older.setBy)}`));
}

export interface RatesFlags extends ClientFlags {
  readonly currency?: string;
  readonly slotHour?: number;
  readonly cpuHour?: number;
  readonly gibHour?: number;
  readonly critical?: number;
  readonly high?: number;
  readonly normal?: number;
  readonly low?: number;
  readonly burstAbove?: number;
  readonly burstPremium?: number;
}

/** What is not named stays as it is. */
export async function setRates(flags: RatesFlags): Promise<void> {
  const client = await connect(flags);
  const [known] = (await client.listRateCards()).items;
  const { burstAbove = known?.burst?.aboveSlots, burstPremium = known?.burst?.premium } = flags;
  if ((burstAbove === undefined) !== (burstPremium === undefined))
    throw new CliError('A burst needs both its flags.', 'Pass --burst-above and --burst-premium.', EXIT.usage);
  const set = await client.setRateCard({
    currency: flags.currency ?? known?.currency ?? 'EUR',
    slotHour: flags.slotHour ?? known?.slotHour ?? 0,
    cpuHour: flags.cpuHour ?? known?.cpuHour ?? 0,
    gibHour: flags.gibHour ?? known?.gibHour ?? 0,
    classes: {
      critical: flags.critical ?? known?.classes.critical ?? 3,
      high: flags.high ?? known?.classes.high ?? 1,
      normal: flags.normal ?? known?.classes.normal ?? 1,
      low: flags.low ?? known?.classes.low ?? 1,
    },
    burst:
      burstAbove === undefined || burstPremium === undefined ? null : { aboveSlots: burstAbove, premium: burstPremium },
  });
  if (flags.json) return printJson(set);
  printRates(set);
}

function printRates({ currency, slotHour, cpuHour, gibHour, classes, burst, from, setBy }: RateCardView): void {
  print(
    table(
      ['hour of', currency],
      [
        ['a slot', String(slotHour)],
        ['a processor', String(cpuHour)],
        ['a GiB', String(gibHour)],
      ],
    ),
  );
  print(
    `times ${classes.critical} for critical, ${classes.high} for high, ${classes.normal} for normal, ${classes.low} for low`,
  );
  if (burst !== null) print(`slots above ${burst.aboveSlots} at a time: times ${burst.premium}`);
  print(colours.dim(`from ${from} (UTC), set by ${short(setBy)}`));
}

export async function listBudgets(flags: ClientFlags): Promise<void> {
  const page = await (await connect(flags)).listBudgets();
  if (flags.json) return printJson(page);
  if (page.items.length === 0) return print(`no budgets; set one with: ${next('costs set-budget tenant 500')}`);
  print(table(['budget', 'this month', 'of', '', 'set by'], page.items.map(budgetRow)));
}

const budgetRow = ({ target, spent, amount, currency, setBy }: BudgetView): string[] => [
  short(target),
  spent.toFixed(2),
  `${amount.toFixed(2)} ${currency ?? ''}`,
  spent >= amount ? colours.red('crossed') : `${Math.floor((spent / amount) * 100)} %`,
  short(setBy),
];

export async function setBudget(target: string, amount: string, flags: ClientFlags): Promise<void> {
  const value = Number(amount);
  if (!(value > 0)) throw new CliError(`"${amount}" is no amount.`, 'Use a number above 0, such as 500.', EXIT.usage);
  const set = await (await connect(flags)).setBudget(target, value);
  if (flags.json) return printJson(set);
  print(
    `budget ${short(set.target)}: ${set.amount} ${set.currency ?? ''} a month, ${set.spent.toFixed(2)} spent so far`,
  );
}

export async function removeBudget(target: string, flags: ClientFlags): Promise<void> {
  const removed = await (await connect(flags)).removeBudget(target);
  if (flags.json) return printJson(removed);
  print(`budget ${short(target)} is removed`);
}
