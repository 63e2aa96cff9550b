/** What holds work back on purpose: pools and caps over several DAGs, kept slots, and what is frozen. And what holds back the most right now. */
import type { BlockerView, FreezeView, LimitView, ReservationView } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { ChangeButton, ConfirmButton, OpenButton } from '../../actions/change.tsx';
import { remove, seg } from '../../api/client.ts';
import { blockersQuery, freezesQuery, limitsQuery, reservationsQuery } from '../../api/queries.ts';
import { actorName, count, plural } from '../../parts/format.ts';
import { Command } from '../../parts/json.tsx';
import { Ago, Time } from '../../parts/now.tsx';
import { Card, Empty, Loaded, Page } from '../../parts/page.tsx';
import { actionsOf, type Column, Table } from '../../parts/table.tsx';
import { Linked } from '../../parts/why-text.tsx';
import { FreezeDialog } from './freeze-dialog.tsx';
import { HoldersDialog } from './holders-dialog.tsx';
import { LimitDialog } from './limit-dialog.tsx';
import { ReserveDialog } from './reserve-dialog.tsx';

export function LimitsPage() {
  const limits = useQuery(limitsQuery());
  const freezes = useQuery(freezesQuery());
  const reservations = useQuery(reservationsQuery());
  const blockers = useQuery(blockersQuery());
  return (
    <Page
      title="Limits"
      sub="What tasks wait for besides a free slot: pools and caps over several DAGs, slots that are kept for others, and what is frozen."
      actions={
        <>
          <OpenButton dialog={(onClose) => <FreezeDialog onClose={onClose} />} className="button">
            Freeze …
          </OpenButton>
          <OpenButton needs="admin" dialog={(onClose) => <ReserveDialog onClose={onClose} />} className="button">
            Reserve slots …
          </OpenButton>
          <OpenButton needs="admin" className="button primary" dialog={(onClose) => <LimitDialog onClose={onClose} />}>
            New limit …
          </OpenButton>
        </>
      }
    >
      <Card title="Pools and caps" flush>
        <Loaded query={limits}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="No limits over several DAGs.">
                <span>A pool is what several DAGs share, such as connections to a database:</span>
                <Command>signalbox limits set pool:database 5</Command>
              </Empty>
            ) : (
              <Table isStacked rows={items} keyOf={({ name }) => name} columns={LIMITS} />
            )
          }
        </Loaded>
      </Card>
      <Card title="Reserved slots" flush>
        <Loaded query={reservations}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="Nothing is reserved.">
                <span>A reservation keeps slots of a queue for a DAG, each day at certain times or once:</span>
                <Command>signalbox reservations create --dag nightly --slots 20 --from 22:00 --until 04:00</Command>
              </Empty>
            ) : (
              <Table isStacked rows={items} keyOf={({ id }) => id} columns={RESERVATIONS} />
            )
          }
        </Loaded>
      </Card>
      <Card title="Frozen" flush>
        <Loaded query={freezes}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="Nothing is frozen.">
                <span>A freeze lets running tasks finish and starts no others until it is thawed.</span>
              </Empty>
            ) : (
              <Table isStacked rows={items} keyOf={({ target }) => target} columns={FREEZES} />
            )
          }
        </Loaded>
      </Card>
      <Card title="What holds back the most work" flush>
        <Loaded query={blockers}>
          {({ items, missing }) => (
            <>
              {missing.length > 0 && (
                <div className="notice warn">
                  These servers gave no answer: {missing.join(', ')}. Counts are too low.
                </div>
              )}
              {items.length === 0 ? (
                <Empty title="Nothing waits." />
              ) : (
                <Table isStacked rows={items} keyOf={({ code, subject }) => `${code} ${subject}`} columns={BLOCKERS} />
              )}
            </>
          )}
        </Loaded>
      </Card>
    </Page>
  );
}

const LIMITS: readonly Column<LimitView>[] = [
  {
    head: 'Limit',
    cell: ({ name, warnings }) => (
      <>
        <b>{name}</b>
        {warnings.map((warning) => (
          <div key={warning} className="small soft">
            {warning}
          </div>
        ))}
      </>
    ),
  },
  {
    head: 'Slots granted',
    label: 'Granted',
    cell: ({ slots, per, granted }) => (
      <div className="row">
        <div className="bar slots">
          <i className="tone-fill-busy" style={{ width: `${slots === 0 ? 0 : Math.min(1, granted / slots) * 100}%` }} />
        </div>
        <span className="nowrap">
          {count(granted)} of {count(slots)}
          {per !== null && ` starts per ${per}`}
        </span>
      </div>
    ),
  },
  {
    head: 'State',
    title: ({ pending }) => (pending ? 'Shards have not heard of it yet, or have more slots than there are now' : ''),
    cell: ({ pending }) =>
      pending ? <span className="chip warn">pending</span> : <span className="chip ok">holds</span>,
  },
  {
    head: 'Set',
    place: 'hide-narrow',
    look: 'soft breaks',
    cell: ({ setAt, setBy }) => (
      <>
        <Ago at={setAt} /> by {actorName(setBy)}
      </>
    ),
  },
  actionsOf((limit) => <LimitActions limit={limit} />),
];

function LimitActions({ limit }: { readonly limit: LimitView }) {
  const { name } = limit;
  return (
    <>
      <OpenButton
        needs="viewer"
        label={`Who has slots of ${name}`}
        dialog={(onClose) => <HoldersDialog name={name} onClose={onClose} />}
      >
        Who has slots …
      </OpenButton>
      <OpenButton
        needs="admin"
        label={`Change ${name}`}
        dialog={(onClose) => <LimitDialog limit={limit} onClose={onClose} />}
      >
        Change …
      </OpenButton>
      <ConfirmButton
        needs="admin"
        button="Remove …"
        label={`Remove ${name}`}
        title={`Remove the limit ${name}`}
        verb="Remove the limit"
        change={{
          run: () => remove(`/v1/limits/${seg(name)}`),
          done: `The limit ${name} is removed.`,
          touches: ['limits', 'blockers'],
        }}
      >
        <p>
          {name.startsWith('pool:')
            ? 'A pool that nobody has set has no slots: tasks that take slots of it wait until it is set again.'
            : 'Tasks under it are then limited by free workers only.'}
        </p>
      </ConfirmButton>
    </>
  );
}

const FREEZES: readonly Column<FreezeView>[] = [
  {
    head: 'What',
    cell: ({ target, reason }) => (
      <>
        <b>{target}</b>
        {reason !== null && <div className="small soft">{reason}</div>}
      </>
    ),
  },
  {
    head: 'Since',
    label: 'Since',
    look: 'soft breaks',
    cell: ({ since, by }) => (
      <>
        <Ago at={since} /> by {actorName(by)}
      </>
    ),
  },
  actionsOf(({ target }) => (
    <ChangeButton
      label={`Thaw ${target}`}
      run={() => remove(`/v1/freezes/${seg(target)}`)}
      done={`${target} goes on.`}
      touches={['freezes', 'blockers']}
    >
      Thaw
    </ChangeButton>
  )),
];

const RESERVATIONS: readonly Column<ReservationView>[] = [
  {
    head: 'For',
    cell: ({ dag, tenant, reason }) => (
      <>
        <b>{dag === null ? `tenant:${tenant}` : `dag:${dag}`}</b>
        {reason !== null && <div className="small soft">{reason}</div>}
      </>
    ),
  },
  {
    head: 'Slots',
    label: 'Slots',
    cell: ({ slots, queues }) => (
      <>
        {count(slots)} of {queues.join(', ')}
      </>
    ),
  },
  {
    head: 'When',
    label: 'When',
    look: 'soft breaks',
    cell: ({ from, until, timezone, days }) =>
      timezone === null ? (
        <>
          <Time at={from} /> to <Time at={until} />
        </>
      ) : (
        `${from} to ${until} ${timezone}${days === null ? '' : `, ${days.join(' ')}`}`
      ),
  },
  {
    head: 'State',
    cell: ({ open, window, left }) =>
      open && window !== null ? (
        <>
          <span className="chip ok">kept</span> until <Time at={window.until} />
          {left !== null && <div className="small soft">Others share {plural(left, 'slot')}.</div>}
        </>
      ) : window === null ? (
        <span className="chip">over</span>
      ) : (
        <>
          from <Time at={window.from} />
        </>
      ),
  },
  {
    head: 'Reserved',
    place: 'hide-narrow',
    look: 'soft breaks',
    cell: ({ createdAt, createdBy }) => (
      <>
        <Ago at={createdAt} /> by {actorName(createdBy)}
      </>
    ),
  },
  actionsOf(({ id, dag, tenant }) => (
    <ConfirmButton
      needs="admin"
      button="Delete …"
      label={`Delete the reservation for ${dag ?? tenant}`}
      title={`Delete the reservation for ${dag ?? tenant}`}
      verb="Delete the reservation"
      change={{
        run: () => remove(`/v1/reservations/${seg(id)}`),
        done: 'The reservation is deleted.',
        touches: ['reservations', 'blockers'],
      }}
    >
      <p>Others can use its slots within seconds.</p>
    </ConfirmButton>
  )),
];

const BLOCKERS: readonly Column<BlockerView>[] = [
  {
    head: 'Reason',
    look: 'wide-cell phone-line',
    cell: ({ message, remedy }) => (
      <>
        <Linked text={message} />
        {remedy !== '' && <div className="small soft">{remedy}</div>}
      </>
    ),
  },
  { head: 'Waiting', place: 'right', label: 'Waiting', cell: (blocker) => <b>{count(blocker.count)}</b> },
  { head: 'Since', label: 'Since', look: 'soft nowrap', cell: ({ since }) => <Ago at={since} /> },
];
