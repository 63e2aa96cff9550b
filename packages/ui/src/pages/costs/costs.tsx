/** What attempts cost: by day, DAG, task and tenant; budgets, and the prices that make money of what was used. */
import type { BudgetView, Costs, RateCardView } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ConfirmButton, OpenButton } from '../../actions/change.tsx';
import { remove, seg, withQuery } from '../../api/client.ts';
import { budgetsQuery, costsQuery, rateCardsQuery } from '../../api/queries.ts';
import { useSearchState } from '../../api/search-state.ts';
import { useRights } from '../../api/session.tsx';
import { DagFilter, Segmented, ShowFilter, useShown } from '../../parts/filters.tsx';
import { actorName, count } from '../../parts/format.ts';
import { Command } from '../../parts/json.tsx';
import { useNow } from '../../parts/now.tsx';
import { Card, Empty, Loaded, Page } from '../../parts/page.tsx';
import { actionsOf, type Column, Table } from '../../parts/table.tsx';
import { Icon } from '../../shell/icons.tsx';
import { BudgetDialog } from './budget-dialog.tsx';
import { CostChart } from './cost-chart.tsx';
import { JOBS, mergeJobs } from './merge-jobs.ts';
import { hours, money } from './money.ts';
import { RatesDialog } from './rates-dialog.tsx';
import './costs.css';

const RANGES = [
  ['30', '30 days'],
  ['7', '7 days'],
  ['90', '90 days'],
] as const;
const BY = [
  ['dag', 'DAG'],
  ['day', 'Day'],
  ['tenant', 'Tenant'],
] as const;
const DAY_MS = 86_400_000;

export function CostsPage() {
  const { mayRunInstallation } = useRights();
  const [{ dag }, change] = useSearchState();
  const days = Number(useShown('days', RANGES));
  const chosen = useShown('by', BY);
  const by = dag !== undefined && chosen === 'dag' ? 'task' : chosen;
  const today = new Date(useNow()).toISOString().slice(0, 10);
  const from = new Date(Date.parse(today) - (days - 1) * DAY_MS).toISOString().slice(0, 10);
  const range = { from, to: today, dag: by === 'tenant' ? undefined : dag };
  const byDay = useQuery(costsQuery({ ...range, by: 'day' }));
  const costs = useQuery(costsQuery({ ...range, by }));
  const choices = BY.filter(([key]) => key !== 'tenant' || (mayRunInstallation && dag === undefined)).map(
    ([key, label]) => [key, key === 'dag' && dag !== undefined ? 'Task' : label] as const,
  );
  return (
    <Page
      title="Costs"
      sub="What attempts used, with the prices of the day. An attempt counts when it has ended, on the days on which it ran (UTC)."
      actions={
        <a
          className="button"
          href={withQuery('/v1/costs', { ...range, by, format: 'csv' })}
          download
          aria-disabled={costs.data?.currency === null}
        >
          <Icon name="download" size={13} /> CSV
        </a>
      }
    >
      <div className="toolbar">
        <ShowFilter name="days" label="How far back" choices={RANGES} />
        <DagFilter label="Only this DAG" />
      </div>
      <Loaded query={byDay}>
        {(data) =>
          data.currency === null ? (
            <Card>
              <Empty title="There are no prices yet, so nothing is summed.">
                <span>An admin of the tenant default sets them, here or with:</span>
                <Command>signalbox costs set-rates --slot-hour 0.04</Command>
              </Empty>
            </Card>
          ) : (
            <>
              <Totals costs={data} />
              <Card title={`Cost by day, ${data.currency}`}>
                <CostChart from={from} days={days} costs={data} />
              </Card>
            </>
          )
        }
      </Loaded>
      {byDay.data?.currency !== null && (
        <Card
          title="Where it went"
          side={
            <Segmented
              label="What each row is about"
              choices={choices}
              value={chosen}
              onChange={(key) => change({ by: key === 'dag' ? undefined : key })}
            />
          }
          flush
        >
          <Loaded query={costs}>
            {(data) =>
              data.items.length === 0 ? (
                <Empty title="Nothing has ended in this time." />
              ) : (
                <Table
                  isStacked
                  rows={data.by === 'day' ? data.items.toReversed() : mergeJobs(data.items)}
                  keyOf={({ name }) => String(name)}
                  columns={columnsOf(data)}
                />
              )
            }
          </Loaded>
        </Card>
      )}
      <Budgets />
      <Rates />
    </Page>
  );
}

function Totals({ costs: { total, currency } }: { readonly costs: Costs }) {
  const figures = [
    [money(total.cost), `${currency} in all`],
    [count(total.attempts), total.attempts === 1 ? 'attempt' : 'attempts'],
    [
      hours(total.slotHours),
      total.burstSlotHours > 0 ? `slot hours, ${hours(total.burstSlotHours)} burst` : 'slot hours',
    ],
    [hours(total.cpuHours), 'processor hours'],
    [hours(total.gibHours), 'GiB hours'],
  ] as const;
  return (
    <div className="figures">
      {figures.map(([value, label]) => (
        <div key={label} className="figure">
          <b>{value}</b>
          <span>{label}</span>
        </div>
      ))}
    </div>
  );
}

type Item = Costs['items'][number];

const HEADS: Readonly<Record<Costs['by'], string>> = { day: 'Day', dag: 'DAG', task: 'Task', tenant: 'Tenant' };

function columnsOf({ by, total, currency }: Costs): readonly Column<Item>[] {
  const share = (item: Item) => (total.cost === 0 ? 0 : item.cost / total.cost);
  return [
    { head: HEADS[by], look: 'cost-name', cell: ({ name }) => <Name by={by} name={name} /> },
    {
      head: 'Share',
      cell: (item) => (
        <div className="row">
          <div className="bar slots">
            <i className="tone-fill-busy" style={{ width: `${share(item) * 100}%` }} />
          </div>
          <span className="nowrap faint small">{Math.round(share(item) * 100)} %</span>
        </div>
      ),
    },
    { head: 'Attempts', place: 'right hide-narrow', cell: ({ attempts }) => count(attempts) },
    { head: 'Slot h', place: 'right hide-phone', cell: ({ slotHours }) => hours(slotHours) },
    { head: 'Processor h', place: 'right hide-narrow', cell: ({ cpuHours }) => hours(cpuHours) },
    { head: 'GiB h', place: 'right hide-narrow', cell: ({ gibHours }) => hours(gibHours) },
    { head: currency ?? '', place: 'right', cell: ({ cost }) => <b>{money(cost)}</b> },
  ];
}

function Name({ by, name }: { readonly by: Costs['by']; readonly name: string | null }) {
  if (name === null)
    return <span className="faint">{by === 'dag' ? 'DAGs that are gone' : 'tasks that are gone'}</span>;
  if (by === 'dag' && name === JOBS) return <Link to="/jobs">all jobs</Link>;
  if (by !== 'dag') return <span className="truncate">{name}</span>;
  return (
    <Link to="/costs" search={{ dag: name } as never} className="name-link truncate" title={`Tasks of ${name}`}>
      {name}
    </Link>
  );
}

function Budgets() {
  const budgets = useQuery(budgetsQuery());
  return (
    <Card
      title="Budgets of this month"
      side={
        <OpenButton needs="admin" dialog={(onClose) => <BudgetDialog onClose={onClose} />}>
          New budget …
        </OpenButton>
      }
      flush
    >
      <Loaded query={budgets}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No budgets.">
              <span>A budget stops nothing: when it is crossed, there is an event budget.crossed.</span>
            </Empty>
          ) : (
            <Table isStacked rows={items} keyOf={({ target }) => target} columns={BUDGETS} />
          )
        }
      </Loaded>
    </Card>
  );
}

const BUDGETS: readonly Column<BudgetView>[] = [
  { head: 'Budget', cell: ({ target }) => <b>{target}</b> },
  {
    head: 'Spent',
    cell: ({ spent, amount, currency }) => (
      <div className="row">
        <div className="bar slots">
          <i
            className={spent >= amount ? 'tone-fill-bad' : 'tone-fill-busy'}
            style={{ width: `${Math.min(1, spent / amount) * 100}%` }}
          />
        </div>
        <span className="nowrap">
          {money(spent)} of {money(amount)} {currency}
        </span>
      </div>
    ),
  },
  {
    head: 'State',
    cell: ({ spent, amount }) =>
      spent >= amount ? (
        <span className="chip bad">crossed</span>
      ) : (
        <span className="chip ok">{Math.floor((spent / amount) * 100)} %</span>
      ),
  },
  { head: 'Set by', place: 'hide-narrow', look: 'soft breaks', cell: ({ setBy }) => actorName(setBy) },
  actionsOf((budget) => <BudgetActions budget={budget} />),
];

function BudgetActions({ budget }: { readonly budget: BudgetView }) {
  const { target } = budget;
  // A dag of another tenant: that tenant sets it.
  if (target.includes(' dag:')) return null;
  return (
    <>
      <OpenButton
        needs="admin"
        label={`Change the budget ${target}`}
        dialog={(onClose) => <BudgetDialog budget={budget} onClose={onClose} />}
      >
        Change …
      </OpenButton>
      <ConfirmButton
        needs="admin"
        button="Remove …"
        label={`Remove the budget ${target}`}
        title={`Remove the budget ${target}`}
        verb="Remove the budget"
        change={{
          run: () => remove(`/v1/costs/budgets/${seg(target)}`),
          done: `The budget ${target} is removed.`,
          touches: ['budgets'],
        }}
      >
        <p>Its crossing is no event any more. What was spent stays in the sums.</p>
      </ConfirmButton>
    </>
  );
}

function Rates() {
  const rates = useQuery(rateCardsQuery());
  const { mayRunInstallation } = useRights();
  return (
    <Card
      title="Prices"
      side={
        mayRunInstallation &&
        rates.data !== undefined && (
          <OpenButton needs="admin" dialog={(onClose) => <RatesDialog card={rates.data?.items[0]} onClose={onClose} />}>
            {rates.data?.items.length === 0 ? 'Set prices …' : 'Change prices …'}
          </OpenButton>
        )
      }
    >
      <Loaded query={rates}>
        {({ items: [card] }) => (card === undefined ? <Empty title="None are set." /> : <CardView card={card} />)}
      </Loaded>
    </Card>
  );
}

function CardView({ card }: { readonly card: RateCardView }) {
  const { currency, slotHour, cpuHour, gibHour, classes, burst, from, setBy } = card;
  const rows = [
    ['Hour of a slot', `${slotHour} ${currency}`],
    ['Hour of a processor, measured', `${cpuHour} ${currency}`],
    ['Hour of a GiB, by the measured peak', `${gibHour} ${currency}`],
    ['Times', `critical ${classes.critical}, high ${classes.high}, normal ${classes.normal}, low ${classes.low}`],
    [
      'Burst',
      burst === null ? 'none' : `slots above ${burst.aboveSlots} at a time cost ${burst.premium} times as much`,
    ],
    ['Since', `${from}, set by ${actorName(setBy)}`],
  ] as const;
  return (
    <dl className="facts">
      {rows.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
