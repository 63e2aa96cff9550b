/** What attempts cost. */
import type { CostsFlags, RatesFlags } from '../commands/costs.ts';
import type { ClientFlags } from '../connection.ts';
import { clientFlags, define, UsageError } from '../define.ts';

const target = { name: 'budget', what: 'tenant, dag:<name>, or tenant:<name> for admins of the tenant default' };

export const costCommands = [
  define<CostsFlags>({
    name: 'costs show',
    summary: 'show what attempts took and cost',
    details:
      'Sums are kept while attempts end, from the day on which an admin of the tenant default has set the first rate card. Days are in UTC.',
    isDefault: true,
    flags: [
      { flags: '--by <key>', what: 'day, dag, task or tenant', usual: 'day', read: key },
      { flags: '--from <date>', what: 'the first day (default: 29 days before the last)' },
      { flags: '--to <date>', what: 'the last day (default: today)' },
      { flags: '--dag <name>', what: 'only this dag; tasks need it' },
      { flags: '--csv <file>', what: 'write a file for a spreadsheet; - for stdout' },
      ...clientFlags,
    ],
    examples: [
      ['signalbox costs', 'the last 30 days, day by day'],
      ['signalbox costs --by dag --from 2026-11-01', 'the dearest dags since then'],
      ['signalbox costs --by task --dag etl', 'the dearest tasks of a dag'],
      ['signalbox costs --by tenant --csv costs.csv', 'for admins of the tenant default: a file to charge by'],
    ],
    run: async (_, flags) => (await import('../commands/costs.ts')).showCosts(flags),
  }),
  define<ClientFlags>({
    name: 'costs rates',
    summary: 'show the prices',
    flags: clientFlags,
    examples: [['signalbox costs rates', 'prices of an hour, and what they are multiplied with']],
    run: async (_, flags) => (await import('../commands/costs.ts')).showRates(flags),
  }),
  define<RatesFlags>({
    name: 'costs set-rates',
    summary: 'set the prices from today (UTC) on; for admins of the tenant default',
    details: 'What you do not name stays as it is. The first rate card begins the sums, within seconds.',
    flags: [
      { flags: '--currency <code>', what: 'three letters (default: EUR)' },
      { flags: '--slot-hour <price>', what: 'for an hour of a slot', read: amount },
      { flags: '--cpu-hour <price>', what: 'for an hour of processor time, where it was measured', read: amount },
      { flags: '--gib-hour <price>', what: 'for an hour of a GiB of memory, where it was measured', read: amount },
      {
        flags: '--critical <factor>',
        what: 'what prices are multiplied with for critical runs (default: 3)',
        read: amount,
      },
      { flags: '--high <factor>', what: 'the same for high (default: 1)', read: amount },
      { flags: '--normal <factor>', what: 'the same for normal (default: 1)', read: amount },
      { flags: '--low <factor>', what: 'the same for low (default: 1)', read: amount },
      { flags: '--burst-above <slots>', what: 'slots of a tenant above so many at a time are dearer', read: amount },
      { flags: '--burst-premium <factor>', what: 'what their price is multiplied with', read: amount },
      ...clientFlags,
    ],
    examples: [
      ['signalbox costs set-rates --slot-hour 0.04', 'an hour of a slot costs 4 cents'],
      ['signalbox costs set-rates --burst-above 50 --burst-premium 1.5', 'half as much again above 50 slots at a time'],
    ],
    run: async (_, flags) => (await import('../commands/costs.ts')).setRates(flags),
  }),
  define<ClientFlags>({
    name: 'costs budgets',
    summary: 'list budgets, and what was spent of them in this month',
    flags: clientFlags,
    examples: [['signalbox costs budgets', 'of your tenant and its dags']],
    run: async (_, flags) => (await import('../commands/costs.ts')).listBudgets(flags),
  }),
  define<ClientFlags>({
    name: 'costs set-budget',
    summary: 'set a budget for each month (UTC)',
    details: 'When it is crossed there is an event budget.crossed, once in the month. Nothing is stopped.',
    arguments: [target, { name: 'amount', what: 'in the currency of the rate card' }],
    flags: clientFlags,
    examples: [
      ['signalbox costs set-budget tenant 500', 'for all dags together'],
      ['signalbox costs set-budget dag:etl 120.50', 'for one dag'],
    ],
    run: async ([name = '', value = ''], flags) => (await import('../commands/costs.ts')).setBudget(name, value, flags),
  }),
  define<ClientFlags>({
    name: 'costs remove-budget',
    summary: 'remove a budget',
    arguments: [target],
    flags: clientFlags,
    examples: [['signalbox costs remove-budget dag:etl', 'its crossing is no event any more']],
    run: async ([name = ''], flags) => (await import('../commands/costs.ts')).removeBudget(name, flags),
  }),
];

function key(text: string): 'day' | 'dag' | 'task' | 'tenant' {
  if (text === 'day' || text === 'dag' || text === 'task' || text === 'tenant') return text;
  throw new UsageError('Use day, dag, task or tenant.');
}

function amount(text: string): number {
  const value = Number(text);
  if (text === '' || !(value >= 0)) throw new UsageError('Use a number, such as 0.04.');
  return value;
}
